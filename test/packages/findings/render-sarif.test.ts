import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { renderSarif } from '../../../packages/findings/src/render-sarif.ts'
import type { Finding } from '../../../packages/findings/src/finding.ts'
import type { AnyFindingRule } from '../../../packages/findings/src/rule.ts'

// What SARIF 2.1.0 requires of the objects that we write: required properties, types, bounds and closed sets,
// as its sections 3.13 (sarifLog) to 3.54 (reportingConfiguration) state them. Unknown properties are rejected,
// as in the published schema.
const createStrictObjectSchema = (properties: object, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const sarifMessageSchema = createStrictObjectSchema({ text: { type: 'string' } }, ['text'])
const positiveIntegerSchema = { type: 'integer', minimum: 1 }
const physicalLocationSchema = createStrictObjectSchema(
  {
    artifactLocation: createStrictObjectSchema({
      uri: { type: 'string', format: 'uri-reference' },
      uriBaseId: { type: 'string' },
    }),
    region: createStrictObjectSchema({
      startLine: positiveIntegerSchema,
      startColumn: positiveIntegerSchema,
      endLine: positiveIntegerSchema,
      endColumn: positiveIntegerSchema,
    }),
  },
  ['artifactLocation'],
)
const sarifLevelSchema = { enum: ['none', 'note', 'warning', 'error'] }
const sarifSchema = createStrictObjectSchema(
  {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: createStrictObjectSchema(
        {
          tool: createStrictObjectSchema(
            {
              driver: createStrictObjectSchema(
                {
                  name: { type: 'string' },
                  semanticVersion: { type: 'string' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: createStrictObjectSchema(
                      {
                        id: { type: 'string' },
                        shortDescription: sarifMessageSchema,
                        helpUri: { type: 'string' },
                        defaultConfiguration: createStrictObjectSchema({ level: sarifLevelSchema }),
                        properties: { type: 'object' },
                      },
                      ['id'],
                    ),
                  },
                },
                ['name'],
              ),
            },
            ['driver'],
          ),
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: {
            type: 'array',
            items: createStrictObjectSchema(
              {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level: sarifLevelSchema,
                message: sarifMessageSchema,
                locations: {
                  type: 'array',
                  items: createStrictObjectSchema({ physicalLocation: physicalLocationSchema }),
                },
                relatedLocations: {
                  type: 'array',
                  uniqueItems: true,
                  items: createStrictObjectSchema({
                    id: { type: 'integer', minimum: 0 },
                    physicalLocation: physicalLocationSchema,
                    message: sarifMessageSchema,
                  }),
                },
                partialFingerprints: { type: 'object', additionalProperties: { type: 'string' } },
              },
              ['message'],
            ),
          },
        },
        ['tool'],
      ),
    },
  },
  ['version', 'runs'],
)

const sampleRule: AnyFindingRule = {
  id: 'two-heads',
  check: 'validation',
  judges: 'catalog',
  since: '0.1.0',
  severity: 'error',
  title: 'A channel has one head',
}
const sampleFinding: Finding = {
  rule: 'two-heads',
  severity: 'error',
  subject: 'foo/stable',
  at: { file: 'catalogs/a b/ü:\ud800/catalog.yaml', line: 2, column: 3, endLine: 2, endColumn: 9 },
  what: 'two heads',
  why: '',
  fix: 'choose',
  related: [{ at: { file: 'other.yaml', line: 7, column: 1 }, note: 'the other' }],
}

function renderAndValidateSarif(findings: readonly Finding[]) {
  const text = renderSarif(findings, {
    version: '0.1.0',
    rules: [sampleRule],
    pages: 'https://example.org/rules/',
  })
  const ajv = new Ajv({ strict: false, formats: { 'uri-reference': /^[A-Za-z0-9%._~!'()*/-]*$/ } })
  const valid = ajv.validate(sarifSchema, JSON.parse(text))
  expect(ajv.errors ?? []).toEqual([])
  expect(valid).toBe(true)
  return JSON.parse(text) as {
    runs: [
      { tool: { driver: { rules: { id: string; helpUri: string }[] } }; results: Record<string, unknown>[] },
    ]
  }
}

describe('findings as SARIF', () => {
  test('the log has the structure that SARIF 2.1.0 requires, with and without findings', () => {
    renderAndValidateSarif([])
    const log = renderAndValidateSarif([
      sampleFinding,
      { rule: 'from-nowhere', severity: 'info', what: 'w', why: 'y', fix: 'f' },
    ])
    expect(log.runs[0].results).toHaveLength(2)
  })

  test('each result points at its rule by index, and every rule has a page', () => {
    const { tool, results } = renderAndValidateSarif([sampleFinding, { ...sampleFinding, rule: 'unlisted' }])
      .runs[0]
    expect(results.map((result) => tool.driver.rules[result.ruleIndex as number]?.id)).toEqual([
      'two-heads',
      'unlisted',
    ])
    expect(tool.driver.rules[0]?.helpUri).toBe('https://example.org/rules/two-heads.md')
  })

  test('paths are relative references with special characters encoded', () => {
    const [result] = renderAndValidateSarif([sampleFinding]).runs[0].results
    expect(result).toMatchObject({
      level: 'error',
      message: { text: 'two heads\nchoose' },
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'catalogs/a%20b/%C3%BC%3A%EF%BF%BD/catalog.yaml' } } },
      ],
      partialFingerprints: { 'subject/v1': 'foo/stable' },
    })
  })

  test('a message contains no link and no invisible or bidirectional characters', () => {
    const evil = '[x](https://evil.example)\u202e\u009b31m'
    const related = [{ at: { file: 'a', line: 1, column: 1 }, note: evil }]
    const [result] = renderAndValidateSarif([{ ...sampleFinding, what: evil, fix: '', related }]).runs[0]
      .results
    const shown = { text: '[x]\u2060(https://evil.example)\\u{202e}\\u{9b}31m' }
    expect(result).toMatchObject({ message: shown, relatedLocations: [{ message: shown }] })
  })

  test('info findings become notes', () => {
    expect(renderAndValidateSarif([{ ...sampleFinding, severity: 'info' }]).runs[0].results[0]).toMatchObject(
      { level: 'note' },
    )
  })
})
