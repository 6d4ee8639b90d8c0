import { expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import { TextPositionLookup } from '../../../../packages/fbc/src/go/position-lookup.ts'

const lineLengthArbitrary = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 0, max: 90 }) },
  fc.integer({ min: 91, max: 9000 }),
)

test('a position has the line and column of a simple count, for lookups in any order', () => {
  fc.assert(
    fc.property(
      fc.array(lineLengthArbitrary, { maxLength: 300 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      (lengths, shares, hasEnd) => {
        const text = lengths.map((length) => 'x'.repeat(length)).join('\n') + (hasEnd ? '\n' : '')
        const positions = new TextPositionLookup(text, 3, 5)
        for (const share of shares) {
          const offset = Math.round(share * text.length)
          const before = text.slice(0, offset).split('\n')
          const column = (before.at(-1) ?? '').length + (before.length === 1 ? 5 : 1)
          expect(positions.positionAt(offset)).toEqual({ line: before.length + 2, column })
        }
      },
    ),
  )
})

test('the end of a line of a megabyte is searched once', () => {
  const text = `a\n${'x'.repeat(1_000_000)}\n${'y'.repeat(1_000_000)}`
  const positions = new TextPositionLookup(text)
  const started = process.threadCpuUsage()
  const lines = new Set<number>()
  for (let at = 0; at < 200_000; at++)
    lines.add(positions.positionAt(at % 2 === 0 ? 500_000 : 1_500_000).line)
  expect([...lines]).toEqual([2, 3])
  // A search for each position takes minutes.
  expect(process.threadCpuUsage(started).user / 1e6).toBeLessThan(15)
})
