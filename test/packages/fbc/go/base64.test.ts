import { expect, test } from '@jest/globals'
import { decodeBase64 } from '../../../../packages/fbc/src/go/base64.ts'

test.each([
  ['aGk=', 'hi'],
  ['aG\r\nk=\n', 'hi'],
  ['', ''],
  // Bits behind the last byte are not looked at.
  ['aGl=', 'hi'],
])('%j is %j', (text, decoded) => {
  expect(Buffer.from(decodeBase64(text) as Uint8Array).toString()).toBe(decoded)
})

test.each([
  ['aGk', 0],
  ['aGk=x', 4],
  ['aGk=aGk=', 4],
  ['a', 0],
  ['a=', 1],
  ['aG=', 3],
  ['Gk="', 2],
  ['Gk=\n"', 3],
  ['é', 0],
  ['aGké', 3],
])('of %j Go complains about byte %d', (text, at) => {
  expect(decodeBase64(text)).toBe(at)
})
