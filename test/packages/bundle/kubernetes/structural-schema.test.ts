import { describe, expect, test } from '@jest/globals'
import { findSchemaProblems } from '../../../../packages/bundle/src/kubernetes/structural-schema.ts'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'

function listSchemaProblems(field: Json, value: Json, more: Record<string, Json> = {}): readonly string[] {
  const schema = { type: 'object', properties: { f: field }, ...more }
  return findSchemaProblems(schema, { apiVersion: 'g/v1', kind: 'K', metadata: {}, f: value })
}

describe('a value that matches the schema of a CRD', () => {
  test.each<[claim: string, field: Json, good: Json, bad: Json]>([
    ['has its type', { type: 'string' }, 'a', 1],
    ['is an integer', { type: 'integer' }, 3, 1.5],
    ['is null only if nullable', { type: 'string', nullable: true }, null, 1],
    ['is an integer or a string', { 'x-kubernetes-int-or-string': true }, '80', 1.5],
    ['is one of the values', { type: 'string', enum: ['a', 'b'] }, 'b', 'c'],
    ['is at least the minimum', { type: 'integer', minimum: 1 }, 1, 0],
    ['is below the maximum', { type: 'integer', maximum: 5, exclusiveMaximum: true }, 4, 5],
    ['is a multiple', { type: 'integer', multipleOf: 5 }, 10, 7],
    ['has at most maxLength characters', { type: 'string', maxLength: 2 }, '😀😀', 'abc'],
    ['matches the pattern', { type: 'string', pattern: '^[a-z]+$' }, 'abc', 'A'],
    ['has at least minItems items', { type: 'array', items: { type: 'string' }, minItems: 1 }, ['a'], []],
    ['has items of the type', { type: 'array', items: { type: 'string' } }, ['a'], [1]],
    [
      'is a set',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'b'],
      ['a', 'a'],
    ],
    [
      'is a list with unique keys',
      {
        type: 'array',
        items: { type: 'object', properties: { n: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n'],
      },
      [{ n: 'a' }, { n: 'b' }],
      [{ n: 'a' }, { n: 'a' }],
    ],
    [
      'has the required fields',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { a: 'x' },
      {},
    ],
    [
      'has only fields of the schema',
      { type: 'object', properties: { a: { type: 'string' } } },
      { a: 'x' },
      { b: 1 },
    ],
    [
      'has additional values of the type',
      { type: 'object', additionalProperties: { type: 'string' } },
      { a: 'x' },
      { a: 1 },
    ],
    ['matches one alternative', { oneOf: [{ type: 'string' }, { type: 'boolean' }] }, true, 1],
    ['matches any alternative', { anyOf: [{ minimum: 5 }, { maximum: 3 }], type: 'integer' }, 6, 4],
    ['matches all', { allOf: [{ minimum: 3 }, { maximum: 5 }], type: 'integer' }, 4, 6],
    ['is not excluded', { not: { enum: ['a'] }, type: 'string' }, 'b', 'a'],
  ])('%s', (_claim, field, good, bad) => {
    expect(listSchemaProblems(field, good)).toEqual([])
    expect(listSchemaProblems(field, bad)).toHaveLength(1)
  })

  test('may lack a required field that has a default', () => {
    const field = { type: 'object', properties: { a: { type: 'string', default: 'x' } }, required: ['a'] }
    expect(listSchemaProblems(field, {})).toEqual([])
  })

  test('may have unknown fields that the schema preserves, and embedded objects', () => {
    expect(
      listSchemaProblems({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { any: 1 }),
    ).toEqual([])
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} }
    expect(listSchemaProblems(embedded, { apiVersion: 'v1', kind: 'A', metadata: {} })).toEqual([])
  })

  test.each([
    '^(a+)+$',
    '^(a|a)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(.*)(.*)(.*)(.*)x',
    '(?=a)',
    '[[:alpha:]]',
    '((',
  ])('may violate %s, which is expensive or valid only in Go', (pattern) => {
    const started = performance.now()
    expect(listSchemaProblems({ type: 'string', pattern }, `${'a'.repeat(60)}!`)).toEqual([])
    expect(performance.now() - started).toBeLessThan(1000)
  })

  test('is checked in limited time against deeply nested alternatives', () => {
    let schema: Json = { type: 'integer' }
    for (let depth = 0; depth < 60; depth++) schema = { anyOf: [schema, schema] }
    expect(listSchemaProblems(schema, 'x').length).toBeGreaterThanOrEqual(0)
  })
})
