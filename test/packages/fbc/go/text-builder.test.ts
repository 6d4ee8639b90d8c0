import { expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import { TextBuilder } from '../../../../packages/fbc/src/go/utf8.ts'

const textChunkArbitrary = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    'a'.repeat(255),
    'b'.repeat(257),
    'é'.repeat(256),
    'c'.repeat(9000),
    '\ud83d',
    '\ude00',
    '\0',
  ),
)

test('chunks of any length and any characters are joined', () => {
  const builder = new TextBuilder()
  fc.assert(
    fc.property(fc.array(textChunkArbitrary, { maxLength: 200 }), (chunks) => {
      for (const one of chunks) {
        if (one.length === 1) builder.addUnit(one.charCodeAt(0))
        else builder.add(`<${one}>`, 1, one.length + 1)
      }
      expect(builder.isEmpty).toBe(chunks.join('') === '')
      expect(builder.take()).toBe(chunks.join(''))
      expect(builder.isEmpty).toBe(true)
    }),
  )
})

test('clearing removes everything that was added', () => {
  const builder = new TextBuilder()
  builder.add('x'.repeat(1000))
  builder.addUnit(0x61)
  builder.clear()
  builder.add('b')
  expect(builder.take()).toBe('b')
})

test('millions of characters, added one at a time, are one string', () => {
  const builder = new TextBuilder()
  for (let at = 0; at < 3_000_000; at++) builder.addUnit(at === 2_000_000 ? 0x20ac : 0x61)
  const text = builder.take()
  expect([text.length, text.indexOf('€')]).toEqual([3_000_000, 2_000_000])
})
