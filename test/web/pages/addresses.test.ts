// Addresses are read as they are written, and nothing else is one.
import { describe, expect, test } from '@jest/globals'
import {
  badgeAddress,
  catalogAddress,
  pullAddress,
  readAddress,
  repositoryAddress,
  ruleAddress,
} from '../../../src/web/pages/addresses.ts'
import { localPath } from '../../../src/web/sign-in/local-path.ts'

const repository = { owner: 'Coast', name: 'operators.x' }

describe('an address', () => {
  test.each([
    [repositoryAddress(repository), { page: 'repository', repository }],
    [pullAddress(repository, 12), { page: 'pull', repository, pull: 12 }],
    [
      catalogAddress(repository, 'catalogs~v4.20', 'a b/ü'),
      { page: 'package', repository, catalog: 'catalogs~v4.20', package: 'a b/ü' },
    ],
    [badgeAddress(repository), { page: 'badge', repository }],
    [ruleAddress('two-heads'), { page: 'rule', id: 'two-heads' }],
    ['/rules/two-heads.md', { page: 'rule', id: 'two-heads' }],
    ['/', { page: 'home' }],
  ])('%s is read as it was written', (address, asked) => expect(readAddress(address)?.asked).toEqual(asked))
  test.each([
    [`${repositoryAddress(repository)}.json`, 'json'],
    [`${pullAddress(repository, 12)}.json`, 'json'],
    [`${catalogAddress(repository, 'v4.20')}.json`, 'json'],
    [`${repositoryAddress(repository)}/merged.atom`, 'atom'],
    ['/home.json', 'json'],
  ])('%s asks for another form', (address, form) => expect(readAddress(address)?.form).toBe(form))
  test.each([
    '//r/a/b',
    '/r/a',
    '/r/../b',
    '/r/a/b/pull/0',
    '/r/a/b/pull/1e3',
    '/r/a/b/pull/99999999999',
    '/r/a/%2e%2e',
    '/r/a/b/catalog/%zz',
    '/r/a%2Fb/c',
    '/badge/a/b.png',
    '/rules/Two',
    '/r/a/b.atom',
    '/sign-in.json',
    '/metrics',
    '/api/github/webhooks',
    '/setup',
  ])('%s is none', (address) => expect(readAddress(address)).toBeUndefined())
})

test.each([
  ['/r/coast/operators/pull/3', '/r/coast/operators/pull/3'],
  ['/r/coast/operators/catalog/v4.20', '/r/coast/operators/catalog/v4.20'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/%2F/evil.example', '/'],
  ['https://evil.example', '/'],
  ['/r/a/b?x', '/'],
  ['/sign-in', '/'],
  ['/sign-in/back', '/'],
  ['/sign-out', '/'],
  ['/metrics', '/'],
  [null, '/'],
])('whoever signs in for %s goes to %s', (wanted, path) => expect(localPath(wanted)).toBe(path))
