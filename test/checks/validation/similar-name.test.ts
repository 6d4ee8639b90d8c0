import { describe, expect, test } from '@jest/globals'
import { findSimilarName } from '../../../src/checks/validation/names.ts'

const catalogFieldNames = ['name', 'replaces', 'skips', 'skipRange', 'defaultChannel', 'image', 'type']

describe('the name that was probably meant', () => {
  test.each([
    ['replace', 'replaces'],
    ['repalces', 'replaces'],
    ['skip', 'skips'],
    ['skip_range', 'skipRange'],
    ['default-channel', 'defaultChannel'],
    ['defaultChanel', 'defaultChannel'],
    ['nmae', 'name'],
  ])('%s: %s', (written, meant) => {
    expect(findSimilarName(written, catalogFieldNames)).toBe(meant)
  })

  test('is not guessed when nothing is near, and short names must be nearly right', () => {
    for (const name of ['maturity', 'tag', 'a', '', 'version'])
      expect(findSimilarName(name, catalogFieldNames)).toBeUndefined()
  })

  test('a name is not similar to itself, and a megabyte is compared no further than its beginning', () => {
    expect(findSimilarName('name', ['name'])).toBeUndefined()
    expect(findSimilarName('x'.repeat(1_000_000), ['y'.repeat(1_000_000)])).toBeUndefined()
  })
})
