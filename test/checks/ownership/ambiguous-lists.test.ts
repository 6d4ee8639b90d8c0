// Owner lists that two parsers could interpret differently are rejected with an error and allow no approval.
import { describe, expect, test } from '@jest/globals'
import {
  parseCatalogOwners,
  parseOwnershipCiYaml,
  parseMaintainers,
} from '../../../src/checks/ownership/sources/owner-source.ts'
import { parseOwnersAliases, parseOwnersFile } from '../../../src/checks/ownership/sources/owners-file.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const ownerFileParserCases: readonly [string, (text: string) => { kind: string }, string][] = [
  ['ci.yaml', (text) => parseOwnershipCiYaml('ci.yaml', text), 'reviewers'],
  ['OWNERS', (text) => parseOwnersFile('OWNERS', text), 'approvers'],
  ['CATALOG_OWNERS', (text) => parseCatalogOwners('CATALOG_OWNERS', text), 'approvers'],
  ['config.yaml', (text) => parseMaintainers('config.yaml', text), 'maintainers'],
]

describe.each(ownerFileParserCases)('%s', (_, read, key) => {
  test('is read in the usual notations', () => {
    for (const text of [
      `${key}: [ann, bob]\n`,
      `---\n# caf\u00e9\u00a0\u200b\r\n${key}:\r\n  - ann\r\n  - "1234"\r\n`,
      `${key}:\n- 0xann\n- 1-ann\n- nullable\n`,
    ])
      expect([text, read(text).kind]).toEqual([text, 'read'])
  })
  test.each(['\v', '\f', '\0', '\r', '\x1b', '\x85', '\u2028', '\u2029', '\ufeff', '\ufffd', '\ud800'])(
    'is broken by %j at any position',
    (character) => {
      for (const text of [
        `# note${character}${key}: [mallory]\n${key}: [ann]\n`,
        `${character}${key}: [ann]\n`,
        `${key}: [ann]${character}\n`,
        `${key}: [ann, "mallory${character}"]\n`,
        `${key}${character}: [ann]\n`,
      ])
        // Before a line feed, it is part of a Windows line ending.
        if (!text.includes('\r\n')) expect([text, read(text).kind]).toEqual([text, 'broken'])
    },
  )
  test.each(['\u00a0', '\u2003', '\u200b', '\u2060', '\u3000', '\u3164', '\ufe0f', '\u00ad', '\u202e'])(
    'is broken by %j in a name or a key',
    (character) => {
      for (const text of [
        `${key}: [ann${character}]\n`,
        `${key}: ["${character}ann"]\n`,
        `"${key}${character}": [ann]\n`,
        `"${character}${key}": [mallory]\n${key}: [ann]\n`,
      ])
        expect([text, read(text).kind]).toEqual([text, 'broken'])
    },
  )
  test('is broken by a key that a lenient parser takes for another', () => {
    for (const other of [key.toUpperCase(), `"${key} "`, key.replace('s', 'ſ')])
      for (const text of [`${other}: [mallory]\n${key}: [ann]\n`, `${other}: [mallory]\n`])
        expect([text, read(text).kind]).toEqual([text, 'broken'])
  })
  test('is broken by names that only some parsers read as strings', () => {
    for (const name of ['null', '~', 'yes', 'Off', 'y', '1234', '0x1f', '1e3', '1_000', '2026-01-01'])
      expect([name, read(`${key}: [ann, ${name}]\n`).kind]).toEqual([name, 'broken'])
  })
  test('is broken by anchors, tags, and a YAML version directive', () => {
    for (const text of [
      `${key}: &a [ann]\n`,
      `${key}: !!seq [ann]\n`,
      `${key}: [!!str ann]\n`,
      `%YAML 1.1\n---\n${key}: [ann]\n`,
    ])
      expect([text, read(text).kind]).toEqual([text, 'broken'])
  })
})

test('aliases are read with the same rules', () => {
  expect(parseOwnersAliases('OWNERS_ALIASES', 'aliases:\n  core: [ann]\n').kind).toBe('read')
  for (const text of [
    'aliases:\n  core: [ann]\n# x\u2028  more: [mallory]\n',
    'aliases:\n  core: [null]\n',
    'aliases:\n  core: [ann\u00a0]\n',
    'aliases:\n  "core\u200b": [ann]\n',
    'Aliases:\n  core: [ann]\n',
  ])
    expect([text, parseOwnersAliases('OWNERS_ALIASES', text).kind]).toEqual([text, 'broken'])
})

test('the configuration rejects names and lines with invisible or ambiguous characters', () => {
  expect(parseConfig('owners: {packages: {foo: [ann, "ann:1", a/b]}}\n').kind).toBe('config')
  for (const text of [
    'owners: {packages: {"foo\u00a0": [ann]}}\n',
    'owners: {packages: {"foo ": [ann]}}\n',
    'owners: {packages: {foo: ["ann\u200b"]}}\n',
    'owners: {maintainers: [" ann"]}\n',
    '# note\u2028owners: {maintainers: [mallory]}\n',
    '\ufeffowners: {maintainers: [ann]}\n',
    'owners: {maintainers: [ann]}\r# x\n',
  ])
    expect([text, parseConfig(text).kind]).toEqual([text, 'unreadable'])
})

test('a pull request with an ambiguous CODEOWNERS file is not merged for any listed author', async () => {
  const scenario = await createOwnershipScenario('ambiguous')
  try {
    for (const owners of ['* @ann\v@bob\n', '* @bob\n/operators/mine/\u00a0@ann\n', '\ufeff* @ann\n']) {
      const base = { CODEOWNERS: owners, 'operators/mine/notes.md': '1\n' }
      for (const author of ['ann', 'bob']) {
        const result = await scenario.evaluatePull(
          base,
          { ...base, 'operators/mine/notes.md': '2\n' },
          { author },
        )
        expect(result.rules).toContain('owner-source-broken')
        expect(result.verdict.kind).not.toBe('merge')
      }
    }
  } finally {
    await scenario.close()
  }
})
