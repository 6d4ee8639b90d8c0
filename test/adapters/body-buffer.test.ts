import { expect, test } from '@jest/globals'
import { BodyBuffer } from '../../src/adapters/body-buffer.ts'

test('the pieces of a body are joined, and none of them is needed any longer', () => {
  const body = new BodyBuffer()
  const piece = Buffer.alloc(3)
  const text = 'abcdefghijklmnopqrstuvwxyz0123'
  for (let at = 0; at < text.length; at += 3) {
    piece.write(text.slice(at, at + 3))
    body.add(piece)
  }
  expect(body.length).toBe(30)
  expect(body.toBuffer().toString()).toBe(text)
  expect(new BodyBuffer().toBuffer()).toHaveLength(0)
})

test('a body takes no more memory than its length', () => {
  const body = new BodyBuffer()
  for (const length of [100_000, 1, 1]) body.add(Buffer.alloc(length))
  expect(body.toBuffer().buffer.byteLength).toBe(100_002)
})
