import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { renderSarif } from '../../src/findings/render-sarif.ts'
import type { Finding } from '../../src/findings/finding.ts'
import type { AnyRule } from '../../src/findings/rule.ts'

// What SARIF 2.1.0 requires of the objects that we write: required properties, types, bounds and closed sets,
// as its sections 3.13 (sarifLog) to 3.54 (reportingConfiguration) state them. Unknown properties are refused,
// as the published schema does.
const closed = (properties: object, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const message = closed({ text: { type: 'string' } }, ['text'])
const positive = { type: 'integer', minimum: 1 }
const physicalLocation = closed(
  {
    artifactLocation: closed({
      uri: { type: 'string', format: 'uri-reference' },
      uriBaseId: { type: 'string' },
    }),
    region: closed({ startLine: positive, startColumn: positive, endLine: positive, endColumn: positive }),
  },
  ['artifactLocation'],
)
const level = { enum: ['none', 'note', 'warning', 'error'] }
const schema = closed(
  {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: closed(
        {
          tool: closed(
            {
              driver: closed(
                {
                  name: { type: 'string' },
                  semanticVersion: { type: 'string' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: closed(
                      {
                        id: { type: 'string' },
                        shortDescription: message,
                        helpUri: { type: 'string' },
                        defaultConfiguration: closed({ level }),
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
            items: closed(
              {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level,
                message,
                locations: { type: 'array', items: closed({ physicalLocation }) },
                relatedLocations: {
                  type: 'array',
                  uniqueItems: true,
                  items: closed({ id: { type: 'integer', minimum: 0 }, physicalLocation, message }),
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

const rule: AnyRule = {
  id: 'two-heads',
  check: 'validation',
  judges: 'catalog',
  since: '0.1.0',
  severity: 'error',
  title: 'A channel has one head',
}
const finding: Finding = {
  rule: 'two-heads',
  severity: 'error',
  subject: 'foo/stable',
  at: { file: 'catalogs/a b/ü:\ud800/catalog.yaml', line: 2, column: 3, endLine: 2, endColumn: 9 },
  what: 'two heads',
  why: '',
  fix: 'choose',
  related: [{ at: { file: 'other.yaml', line: 7, column: 1 }, note: 'the other' }],
}

function sarif(findings: readonly Finding[]) {
  const text = renderSarif(findings, { version: '0.1.0', rules: [rule], pages: 'https://example.org/rules/' })
  const ajv = new Ajv({ strict: false, formats: { 'uri-reference': /^[A-Za-z0-9%._~!'()*/-]*$/ } })
  const valid = ajv.validate(schema, JSON.parse(text))
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
    sarif([])
    const log = sarif([finding, { rule: 'from-nowhere', severity: 'info', what: 'w', why: 'y', fix: 'f' }])
    expect(log.runs[0].results).toHaveLength(2)
  })

  test('each result points at its rule by index, and every rule has a page', () => {
    const { tool, results } = sarif([finding, { ...finding, rule: 'unlisted' }]).runs[0]
    expect(results.map((result) => tool.driver.rules[result.ruleIndex as number]?.id)).toEqual([
      'two-heads',
      'unlisted',
    ])
    expect(tool.driver.rules[0]?.helpUri).toBe('https://example.org/rules/two-heads.md')
  })

  test('paths are relative references with every odd character encoded', () => {
    const [result] = sarif([finding]).runs[0].results
    expect(result).toMatchObject({
      level: 'error',
      message: { text: 'two heads\nchoose' },
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'catalogs/a%20b/%C3%BC%3A%EF%BF%BD/catalog.yaml' } } },
      ],
      partialFingerprints: { 'subject/v1': 'foo/stable' },
    })
  })

  test('our notes are notes there', () => {
    expect(sarif([{ ...finding, severity: 'info' }]).runs[0].results[0]).toMatchObject({ level: 'note' })
  })
})
