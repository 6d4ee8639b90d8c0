// Generated addresses are parsed, and other addresses are rejected.
import { describe, expect, test } from '@jest/globals'
import {
  formatCatalogPageUrl,
  formatPullPageUrl,
  parsePageUrl,
  formatRepositoryPageUrl,
  formatRulePageUrl,
} from '../../../src/report/urls.ts'
import { sanitizeSignInRedirectPath } from '../../../src/web/server/sign-in.ts'

const sampleRepository = { owner: 'Coast', name: 'operators.x' }

describe('an address', () => {
  test.each([
    [formatRepositoryPageUrl(sampleRepository), { page: 'repository', repository: sampleRepository }],
    [formatPullPageUrl(sampleRepository, 12), { page: 'pull', repository: sampleRepository, pull: 12 }],
    [
      formatCatalogPageUrl(sampleRepository, 'catalogs~v4.20', 'a b/ü'),
      { page: 'package', repository: sampleRepository, catalog: 'catalogs~v4.20', package: 'a b/ü' },
    ],
    ['/badge/Coast/operators.x.svg', { page: 'badge', repository: sampleRepository }],
    [formatRulePageUrl('two-heads'), { page: 'rule', id: 'two-heads' }],
    ['/rules/two-heads.md', { page: 'rule', id: 'two-heads' }],
    ['/', { page: 'home' }],
  ])('%s is read as it was written', (address, asked) =>
    expect(parsePageUrl(address)?.pageRequest).toEqual(asked),
  )
  test.each([
    [`${formatRepositoryPageUrl(sampleRepository)}.json`, 'json'],
    [`${formatPullPageUrl(sampleRepository, 12)}.json`, 'json'],
    [`${formatCatalogPageUrl(sampleRepository, 'v4.20')}.json`, 'json'],
    [`${formatRepositoryPageUrl(sampleRepository)}/merged.atom`, 'atom'],
    ['/home.json', 'json'],
  ])('%s requests another form', (address, form) => expect(parsePageUrl(address)?.form).toBe(form))
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
  ])('%s is not an address', (address) => expect(parsePageUrl(address)).toBeUndefined())
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
])('a sign-in for %s redirects to %s', (wanted, path) =>
  expect(sanitizeSignInRedirectPath(wanted)).toBe(path),
)
