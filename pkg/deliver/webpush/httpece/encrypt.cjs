// Encrypts messages to a device with the encryption of npm web-push, and nothing of this project. The arguments are its file and
// that of http_ece, which it asks for. Input: {p256dh, auth, texts}, the keys in base64url. Output: a list of bodies, in base64url.
const Module = require('module');
const path = require('path');

const [webPush, ece] = process.argv.slice(2).map((file) => path.resolve(file));
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => (name === 'http_ece' ? ece : resolve(name, ...rest));
const { encrypt } = require(webPush);

const { p256dh, auth, texts } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => encrypt(p256dh, auth, text, 'aes128gcm').cipherText.toString('base64url'))));
