import { describe, expect, test } from '@jest/globals'
import { imagesCheck } from '../../src/checks/images/images.ts'
import { type CheckInput, applyConfiguredSeverities } from '../../src/checks/check.ts'
import { defaultConfig, type Config } from '../../src/config/config.ts'
import { createTestFinding } from '../policy/verdict-inputs.ts'

const at = { file: 'catalogs/foo/catalog.yaml', line: 1, column: 1 }
const createFinding = (rule: string) => createTestFinding({ rule, severity: 'warning', at })
const formatSeverities = (rules: Config['rules'], ...names: string[]) =>
  applyConfiguredSeverities(names.map(createFinding), { ...defaultConfig, rules }).map(
    ({ rule, severity }) => `${rule} ${severity}`,
  )

describe('the configuration of a rule', () => {
  test('can set the severity, turn the rule off, or ignore paths', () => {
    expect(formatSeverities({ 'image-by-tag': 'error' }, 'image-by-tag')).toEqual(['image-by-tag error'])
    expect(formatSeverities({ 'image-by-tag': 'off' }, 'image-by-tag', 'tag-moved')).toEqual([
      'tag-moved warning',
    ])
    const ignore = (path: string) => ({ 'image-by-tag': { ignore: [path] } })
    expect(formatSeverities(ignore('catalogs/foo/**'), 'image-by-tag')).toEqual([])
    expect(formatSeverities(ignore('catalogs/bar/**'), 'image-by-tag')).toEqual(['image-by-tag warning'])
  })
  test('can enable a rule of an optional suite by a severity', () => {
    expect(formatSeverities({}, 'no-icon')).toEqual([])
    expect(formatSeverities({ 'no-icon': { ignore: ['x'] } }, 'no-icon')).toEqual([])
    expect(formatSeverities({ 'no-icon': 'info' }, 'no-icon')).toEqual(['no-icon info'])
    expect(formatSeverities({ 'no-icon': { severity: 'error', ignore: ['x'] } }, 'no-icon')).toEqual([
      'no-icon error',
    ])
  })
  test('is applied by the images check', () => {
    const judge = (rules: Config['rules']) =>
      imagesCheck.judge(
        {
          config: { ...defaultConfig, rules },
          change: {
            paths: [],
            catalogs: [],
            references: [
              {
                reference: 'quay.io/a/b:1',
                at: { file: 'c.yaml', line: 1, column: 1 },
                package: 'foo',
                bundle: 'foo.v1',
                role: 'related-image',
              },
            ],
          },
        } as unknown as CheckInput,
        { get: () => ({ kind: 'ok', digest: `sha256:${'a'.repeat(64)}`, mediaType: 'x', size: 1 }) as never },
      ).findings
    expect(judge({ 'image-by-tag': 'error' })).toMatchObject([{ rule: 'image-by-tag', severity: 'error' }])
    expect(judge({ 'image-by-tag': 'off' })).toEqual([])
  })
})
