import { util } from '@aws-appsync/utils'

// A user may subscribe to its own channel alone, with a token that may read. A user whose claim has a star gets no hints:
// its channel would stand for those of others.
export function onSubscribe(ctx) {
  const claims = ctx.identity.claims
  const given = claims.scope ? claims.scope : claims.scp
  const scopes = Array.isArray(given) ? given : `${given}`.split(' ')
  const own = `/NAMESPACE/${ctx.identity.sub}`
  if (ctx.info.channel.path !== own || own.includes('*') || !READ_SCOPES.some((scope) => scopes.includes(scope))) {
    util.unauthorized()
  }
}
