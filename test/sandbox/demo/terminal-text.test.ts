import { describe, expect, test } from '@jest/globals'
import { truncateAtWordBoundary, wrapWords } from '../../../sandbox/demo/run-demo.ts'

describe('the text of a demo line', () => {
  test('is shortened between words', () => {
    expect(truncateAtWordBoundary('two heads: a, b and c', 40)).toBe('two heads: a, b and c')
    expect(truncateAtWordBoundary('two heads: alpha, bravo', 18)).toBe('two heads: alpha…')
    expect(truncateAtWordBoundary('unbreakable-word', 5)).toBe('unbreakable-word')
  })
  test('is wrapped between words', () => {
    expect(wrapWords('images: the image does not exist', 14)).toEqual([
      'images: the',
      'image does not',
      'exist',
    ])
    expect(wrapWords('see registry.example/buoy@sha256:0 now', 10)).toEqual([
      'see',
      'registry.example/buoy@sha256:0',
      'now',
    ])
  })
})
