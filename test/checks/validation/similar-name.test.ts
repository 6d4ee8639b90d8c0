import { describe, expect, test } from '@jest/globals'
import { findSimilarName } from '../../../src/checks/validation/names.ts'

const catalogFieldNames = ['name', 'replaces', 'skips', 'skipRange', 'defaultChannel', 'image', 'type']

describe('the suggested name', () => {
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

  test('is undefined if no name is similar, and short names allow fewer differences', () => {
    for (const name of ['maturity', 'tag', 'a', '', 'version'])
      expect(findSimilarName(name, catalogFieldNames)).toBeUndefined()
  })

  test('is never the name itself, and a name of a megabyte is compared only up to a limit', () => {
    expect(findSimilarName('name', ['name'])).toBeUndefined()
    expect(findSimilarName('x'.repeat(1_000_000), ['y'.repeat(1_000_000)])).toBeUndefined()
  })
})
