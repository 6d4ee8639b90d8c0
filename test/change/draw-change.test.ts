import { expect, test } from '@jest/globals'
import { changeAsMermaid, drawChange } from '../../src/change/draw-change.ts'
import { bundle, changeBetween, channel, pkg } from './build-catalog.ts'

const layout = { catalogs: ['4.9', '4.20'].map((version) => ({ root: `catalogs/v${version}`, version })) }
const before = [pkg('foo'), channel('stable', 'foo', ['v1']), bundle('v1', 'foo', '1.0.0')]
const after = [
  pkg('foo'),
  channel('stable', 'foo', ['v1', 'v2 < v1']),
  bundle('v1', 'foo', '1.0.0'),
  bundle('v2', 'foo', '2.0.0'),
]
const files = (content: typeof before) => ({
  'catalogs/v4.9/f/c.yaml': content,
  'catalogs/v4.20/f/c.yaml': content,
})

test('the same change in two catalogs is one picture', () => {
  const change = changeBetween(files(before), files(after), layout)
  expect(drawChange(change).map(({ catalogs, drawing }) => [catalogs, drawing.channels.length])).toEqual([
    [['4.9', '4.20'], 1],
  ])
  expect(changeAsMermaid(change)).toContain('+ 2.0.0')
})

test('a change that touches no channel, and a package that goes, have no picture', () => {
  expect(
    changeAsMermaid(
      changeBetween(
        files(before),
        files([pkg('foo', 'stable', { description: 'x' }), ...before.slice(1)]),
        layout,
      ),
    ),
  ).toBeUndefined()
  expect(drawChange(changeBetween(files(before), { 'catalogs/v4.9/g/c.yaml': [] }, layout))).toEqual([])
})
