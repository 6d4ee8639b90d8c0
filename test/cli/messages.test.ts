// Messages of the command line: colors, system errors, `doctor` results, and suggestions for mistyped names.
import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { findClosestNames } from '../../src/cli/rule.ts'
import { supportsColor, getRuleUrl, formatSystemError } from '../../src/cli/output.ts'
import {
  diagnoseClockSkew,
  diagnoseWebhookDeliveries,
  diagnosePermissions,
  diagnoseProxy,
  diagnoseRegistries,
} from '../../src/cli/diagnosis.ts'
import { createAuthorPackageJson, createAuthorPackageReadme } from '../../scripts/build/author-package.ts'

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [true, { TERM: 'dumb' }, false],
])('a terminal (%j) with %j has colors: %j', (isTTY, environment, has) => {
  expect(supportsColor({ isTTY }, environment)).toBe(has)
})

describe('a system error', () => {
  test('names the file and the problem', () => {
    let error: unknown
    try {
      readFileSync('/no/such')
    } catch (caught) {
      error = caught
    }
    expect(formatSystemError(error)).toBe('/no/such: no such file or directory')
  })

  test.each([
    [{ code: 'ENOENT', syscall: 'spawn git', path: 'git' }, 'git is required but not installed'],
    [
      { code: 'EADDRINUSE', syscall: 'listen', address: '::', port: 80 },
      ':::80: the address is already in use',
    ],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'a.example' }, 'a.example: host not found'],
    [{ code: 'missing' }, undefined],
    [{ code: 'ENOENT' }, undefined],
  ])('%j', (fields, sentence) => {
    expect(formatSystemError(Object.assign(new Error('raw'), fields))).toBe(sentence)
  })
})

describe('doctor', () => {
  const wanted = { contents: 'write', issues: 'write', members: 'read' }

  test('fails for a missing required permission, and is inconclusive for an optional one', () => {
    expect(diagnosePermissions(wanted, { contents: 'write', issues: 'write', members: 'read' }).ok).toBe(true)
    expect(
      diagnosePermissions(wanted, { contents: 'read', issues: 'admin', members: 'write' }),
    ).toMatchObject({ ok: false, text: expect.stringContaining('lacks contents: write;') })
    expect(diagnosePermissions(wanted, { contents: 'write' })).toMatchObject({
      ok: undefined,
      text: expect.stringContaining('issues: write, members: read'),
    })
    expect(diagnosePermissions(wanted, undefined).ok).toBeUndefined()
  })

  test('fails if the latest delivery failed, and is inconclusive if an earlier one failed', () => {
    const [good, bad, unanswered] = [200, 502, 0].map((status) => ({ status, at: 'then' })) as [
      { status: number; at: string },
      { status: number; at: string },
      { status: number; at: string },
    ]
    expect(diagnoseWebhookDeliveries([good, good]).ok).toBe(true)
    expect(diagnoseWebhookDeliveries([good, bad]).ok).toBeUndefined()
    expect(diagnoseWebhookDeliveries([bad, good])).toMatchObject({
      ok: false,
      text: expect.stringContaining('HTTP status 502'),
    })
    expect(diagnoseWebhookDeliveries([unanswered]).text).toContain('no response')
    expect(diagnoseWebhookDeliveries([]).ok).toBeUndefined()
    expect(diagnoseWebhookDeliveries(undefined).ok).toBeUndefined()
  })

  test('fails for a clock skew that makes GitHub reject tokens', () => {
    const there = 'Sun, 06 Nov 1994 08:49:37 GMT'
    const now = Date.parse(there)
    expect(diagnoseClockSkew(there, now + 30_000).ok).toBe(true)
    expect(diagnoseClockSkew(there, now + 31_000)).toMatchObject({
      ok: false,
      text: expect.stringContaining('31 seconds ahead of'),
    })
    expect(diagnoseClockSkew(there, now - 90_000).text).toContain('90 seconds behind')
    expect(diagnoseClockSkew(undefined, now).ok).toBeUndefined()
  })

  test('names a proxy without its password', () => {
    expect(diagnoseProxy({})).toBeUndefined()
    expect(diagnoseProxy({ https_proxy: 'http://user:secret@proxy' })?.text).not.toContain('secret')
  })

  test('treats a registry without the image as reachable', () => {
    const remarks = diagnoseRegistries(
      new Map([
        ['a.example', { kind: 'missing', reason: 'no such image' }],
        ['b.example', { kind: 'unknown', reason: 'no answer\u001b[31m', retryAfter: 1 }],
      ]),
    )
    expect(remarks.map(({ ok }) => ok)).toEqual([true, false])
    expect(remarks[1]?.text).not.toContain('\u001b')
    expect(diagnoseRegistries(new Map())[0]?.ok).toBeUndefined()
  })
})

test('the closest name is suggested, and none for an unrelated word', () => {
  const names = ['several-heads', 'no-head', 'image-by-tag']
  expect(findClosestNames('sevral-head', names)[0]).toBe('several-heads')
  expect(findClosestNames('by-tag', names)).toEqual(['image-by-tag'])
  expect(findClosestNames('xyzzy', names)).toEqual([])
})

test('a rule links to its page, at RULES_URL if that is set', () => {
  const before = process.env['RULES_URL']
  try {
    delete process.env['RULES_URL']
    // A checkout is not published.
    expect(getRuleUrl('a')).toBeUndefined()
    process.env['RULES_URL'] = 'https://rules.example'
    expect(getRuleUrl('a')).toBe('https://rules.example/a.md')
    process.env['RULES_URL'] = 'https://secret@rules.example'
    expect(() => getRuleUrl('a')).toThrow('RULES_URL must not contain a user name or password')
  } finally {
    if (before === undefined) delete process.env['RULES_URL']
    else process.env['RULES_URL'] = before
  }
})

describe('the package for authors', () => {
  const app = { version: '1.2.3', license: 'X', type: 'module', engines: { node: '>=22.20' } }
  const distribution = {
    repository: 'coast/bot',
    package: '@coast/catalog-bot-cli',
    appPackage: '@coast/catalog-bot',
    image: 'ghcr.io/coast/catalog-bot',
    chart: 'oci://ghcr.io/coast/charts/catalog-bot',
    action: 'coast/bot@v1.2.3',
    site: 'https://coast.github.io/bot/',
  }

  test('has no dependencies, and cannot be published from a checkout, which owns no name on npm', () => {
    const made = createAuthorPackageJson(app)
    expect(made).toMatchObject({ private: true, version: '1.2.3', engines: { node: '>=22.20' } })
    expect(Object.keys(made).filter((key) => /dependencies|scripts/i.test(key))).toEqual([])
    expect(createAuthorPackageReadme(app)).not.toContain('npx')
  })

  test('of a release has the name that the release was given, in its metadata and its README', () => {
    const made = createAuthorPackageJson({ ...app, distribution })
    expect(made).toMatchObject({
      name: '@coast/catalog-bot-cli',
      bugs: 'https://github.com/coast/bot/issues',
      distribution,
    })
    expect(made).not.toHaveProperty('private')
    expect(createAuthorPackageReadme({ ...app, distribution })).toContain(
      'npx @coast/catalog-bot-cli validate',
    )
  })
})
