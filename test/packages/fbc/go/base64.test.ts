import { expect, test } from '@jest/globals'
import { decodeBase64 } from '../../../../packages/fbc/src/go/base64.ts'

test.each([
  ['aGk=', 'hi'],
  ['aG\r\nk=\n', 'hi'],
  ['', ''],
  // Bits after the last byte are ignored.
  ['aGl=', 'hi'],
])('%j is decoded to %j', (text, decoded) => {
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
])('the error of Go for %j names byte %d', (text, at) => {
  expect(decodeBase64(text)).toBe(at)
})
