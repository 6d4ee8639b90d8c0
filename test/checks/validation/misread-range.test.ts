import { describe, expect, test } from '@jest/globals'
import { findVersionRangePitfall } from '../../../src/checks/validation/rules/versions.ts'

describe('ranges that do not match what they seem to match', () => {
  test.each([
    ['1.0.0 - 2.0.0', 'dropped-token', '-'],
    ['! 1.5.0', 'dropped-token', '!'],
    ['>=1.0.0 , <2.0.0', 'dropped-token', ','],
    ['x >=1.0.0', 'dropped-token', 'x'],
    ['1.x.x', 'double-wildcard', '1.x.x'],
    ['~1.2.x', 'dropped-operator', '~1.2.x'],
    ['^1.x', 'dropped-operator', '^1.x'],
    ['!=1.5.x', 'matches-nothing', '!=1.5.x'],
    ['=1.0.0 =2.0.0', 'matches-nothing', '=1.0.0 =2.0.0'],
    ['>2.0.0 <1.0.0', 'matches-nothing', '>2.0.0 <1.0.0'],
    ['>1.0.0 <1.0.1-0', 'matches-nothing', '>1.0.0 <1.0.1-0'],
    ['1.0.0 || >2.0.0 <1.0.0', 'matches-nothing', '>2.0.0 <1.0.0'],
    ['<0.0.0-0', 'matches-nothing', '<0.0.0-0'],
  ])('%s is reported', (range, kind, part) => {
    expect(findVersionRangePitfall(range)).toEqual({ kind, part })
  })

  test.each([
    '>=1.0.0 <2.0.0',
    '>= 1.0.0 < 2.0.0',
    '1.2.3',
    '1.x',
    '1.2.x || 3.x',
    '>=1.x',
    '>1.0.0 !=1.0.1-0 !=1.0.1-0.0 <1.0.1',
    '>=1.0.0-alpha <1.0.0',
    '>=1.0.0-fix',
    '<1.0.0',
    '1.0.0 || || 2.0.0',
    '>18446744073709551614.0.0',
  ])('%s is not reported', (range) => {
    expect(findVersionRangePitfall(range)).toBeUndefined()
  })

  test('ranges that do not parse are left to other rules', () => {
    expect(findVersionRangePitfall('^1.0.0')).toBeUndefined()
    expect(findVersionRangePitfall('')).toBeUndefined()
  })
})
