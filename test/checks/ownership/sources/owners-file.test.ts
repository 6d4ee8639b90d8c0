// OWNERS files as Prow reads them, except that broken files do not give anyone permission.
import { describe, expect, test } from '@jest/globals'
import {
  findInheritedApprovers,
  parseOwnersAliases,
  parseOwnersFile,
  type OwnersFile,
  parsePathFilter,
} from '../../../../src/checks/ownership/sources/owners-file.ts'
import type { OwnerSourceReadResult } from '../../../../src/checks/ownership/sources/owner-source.ts'
import { formatPrincipal } from '../../../../src/checks/ownership/principals.ts'

const ownersAliasesYaml = 'aliases:\n  core:\n    - Carol\n    - dave\n'
function findApprovers(files: Readonly<Record<string, string>>, path: string, aliases = ownersAliasesYaml) {
  const read = parseOwnersAliases('OWNERS_ALIASES', aliases)
  if (read.kind === 'broken') throw new Error(read.problems[0].problem)
  const owners = new Map<string, OwnerSourceReadResult<OwnersFile>>(
    Object.entries(files).map(([directory, text]) => [
      directory,
      parseOwnersFile(`${directory}/OWNERS`, text),
    ]),
  )
  return findInheritedApprovers(path, owners, read.value)?.map(formatPrincipal)
}

describe('approvers', () => {
  const files = {
    '': 'approvers: [root]\nreviewers: [nobody]\n',
    catalog: 'approvers:\n- core\n- Anna\n',
    'catalog/foo': 'approvers: [frank]\nemeritus_approvers: [old]\n',
    'catalog/bar': 'options:\n  no_parent_owners: true\napprovers: [bea]\n',
  }
  test('are those of the directory and of all its parent directories', () => {
    expect(findApprovers(files, 'catalog/foo/x.yaml')).toEqual(['frank', 'carol', 'dave', 'anna', 'root'])
    expect(findApprovers(files, 'catalog/foo/deep/er/x.yaml')).toEqual([
      'frank',
      'carol',
      'dave',
      'anna',
      'root',
    ])
    expect(findApprovers(files, 'README.md')).toEqual(['root'])
  })
  test('exclude those of parent directories if a file has no_parent_owners', () => {
    expect(findApprovers(files, 'catalog/bar/x.yaml')).toEqual(['bea'])
  })
  test('are undefined if a file in the directory or its parents is broken', () => {
    expect(
      findApprovers({ ...files, 'catalog/foo': 'approvers: frank\n' }, 'catalog/foo/x.yaml'),
    ).toBeUndefined()
    expect(findApprovers({ ...files, 'catalog/foo': 'approvers: frank\n' }, 'catalog/bar/x.yaml')).toEqual([
      'bea',
    ])
  })
  test('in a filter own the files that it matches', () => {
    const filtered = {
      foo: "filters:\n  '.*':\n    approvers: [all]\n  '\\.ya?ml$':\n    approvers: [never]\n",
    }
    expect(parseOwnersFile('foo/OWNERS', filtered.foo).kind).toBe('broken')
    const simple = { foo: "filters:\n  '.*':\n    approvers: [all]\n  '\\.yaml$':\n    approvers: [yam]\n" }
    expect(findApprovers(simple, 'foo/a.yaml')).toEqual(['all', 'yam'])
    expect(findApprovers(simple, 'foo/a.json')).toEqual(['all'])
  })
})

describe('a broken file', () => {
  test.each([
    'approvers: {a: b}\n',
    'approvers: [a b]\n',
    'approvers: [[a]]\n',
    'aprovers: [a]\n',
    'options: {no_parent_owner: true}\n',
    'options: {no_parent_owners: maybe}\n',
    'filters: {".*": {approvers: [a]}}\napprovers: [b]\n',
    'filters: {"(a+)+$": {approvers: [a]}}\n',
    'approvers: [a]\napprovers: [b]\n',
    'approvers: &x [a]\nreviewers: *x\n',
    '- a\n',
    `approvers:\n${'- a\n'.repeat(100_000)}`,
  ])('%j', (text) => {
    expect(parseOwnersFile('OWNERS', text).kind).toBe('broken')
  })
  test.each(['', '---\n', '# nothing\n', 'approvers:\n', 'approvers: []\n'])(
    'an empty file has no approvers and is not broken: %j',
    (text) => {
      expect(findApprovers({ '': text }, 'x')).toEqual([])
    },
  )
})

test.each<[string, string, boolean | undefined]>([
  ['.*', 'a/b', true],
  ['\\.go$', 'x.go', true],
  ['\\.go$', 'x.god', false],
  ['^docs/', 'docs/a', true],
  ['^docs/', 'x/docs/a', false],
  ['^a.*b$', 'a/x/b', true],
  ['^ab.*b$', 'ab', false],
  ['a.*b.*c', 'xaxbxcx', true],
  ['a.*b.*c', 'cba', false],
  ['a|b', 'a', undefined],
  ['a.b', 'a', undefined],
  ['(x)', 'x', undefined],
])('a filter %s on %s', (pattern, path, expected) => {
  expect(parsePathFilter(pattern)?.(path)).toBe(expected)
  if (expected !== undefined) expect(new RegExp(pattern).test(path)).toBe(expected)
})
