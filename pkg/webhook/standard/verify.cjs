// Reads webhooks as receivers do, with standardwebhooks, node's own crypto and the function of docs/webhooks.md. Input: a
// list of {id, stamp, signature, body, secret, publicKey}. Output: the number of messages that all accept. The clock is
// that of each message.
const crypto = require('crypto');
const { Webhook } = require('standardwebhooks');

const sample = require('fs').readFileSync(`${__dirname}/../../../docs/webhooks.md`, 'utf8')
  .match(/^import \{ (.*) \} from "node:crypto";\n(.*?)^```/ms);
const isOfNexus = new Function('crypto', `const { ${sample[1]} } = crypto; ${sample[2]}; return isOfNexus;`)(crypto);

const messages = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const now = Date.now;
for (const m of messages) {
  Date.now = () => Number(m.stamp) * 1000;
  const read = new Webhook(m.secret).verify(m.body, {
    'webhook-id': m.id, 'webhook-timestamp': m.stamp, 'webhook-signature': m.signature,
  });
  if (JSON.stringify(read) !== JSON.stringify(JSON.parse(m.body))) throw new Error('another message');
  // Standard Webhooks, "Verifying signatures": ed25519 over id.timestamp.payload.
  const key = crypto.createPublicKey({ format: 'jwk', key: {
    kty: 'OKP', crv: 'Ed25519', x: Buffer.from(m.publicKey.slice('whpk_'.length), 'base64').toString('base64url'),
  } });
  const signed = m.signature.split(' ').some((one) => one.startsWith('v1a,') &&
    crypto.verify(null, Buffer.from(`${m.id}.${m.stamp}.${m.body}`), key, Buffer.from(one.slice(4), 'base64')));
  if (!signed) throw new Error('no signature v1a holds');
  const headers = { 'webhook-id': m.id, 'webhook-timestamp': m.stamp, 'webhook-signature': m.signature };
  if (!isOfNexus(m.secret, headers, m.body)) throw new Error('the sample refuses it');
  if (isOfNexus(m.secret, headers, `${m.body} `)) throw new Error('the sample accepts another body');
  Date.now = () => (Number(m.stamp) + 301) * 1000;
  if (isOfNexus(m.secret, headers, m.body)) throw new Error('the sample accepts an old message');
}
Date.now = now;
console.log(JSON.stringify(messages.length));
