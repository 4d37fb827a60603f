// Reads requests to a push service as a browser and the service do, with http_ece and node's own crypto, and nothing of
// this project. Input: a list of {body, authorization, private, public, auth}, all but authorization in base64url. Output: a
// list of {text, claims, key}: the plain text, the claims of the VAPID token, whose signature holds under the key beside it. A
// body without an authorization is only decrypted.
const crypto = require('crypto');
const ece = require(require('path').resolve(process.argv[2]));

const bytes = (text) => Buffer.from(text, 'base64url');

function claimsOf(authorization) {
  const [, token, key] = /^vapid t=([^,]+), k=(.+)$/.exec(authorization);
  const [header, claims, signature] = token.split('.');
  const point = bytes(key);
  const publicKey = crypto.createPublicKey({ format: 'jwk', key: {
    kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url'),
  } });
  const signed = crypto.verify('sha256', Buffer.from(`${header}.${claims}`), { key: publicKey, dsaEncoding: 'ieee-p1363' },
    bytes(signature));
  if (!signed || JSON.parse(bytes(header)).alg !== 'ES256') throw new Error('the token is not signed with its key');
  return { claims: JSON.parse(bytes(claims)), key };
}

const requests = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(requests.map((r) => {
  const device = crypto.createECDH('prime256v1');
  device.setPrivateKey(bytes(r.private));
  const text = ece.decrypt(bytes(r.body), { version: 'aes128gcm', privateKey: device, authSecret: r.auth });
  return { text: text.toString(), ...(r.authorization && claimsOf(r.authorization)) };
})));
