import { readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { gather } from '../../../src/checks/validation/catalog-rule.ts'
import { viewCatalog } from '../../../src/checks/validation/catalog-view.ts'
import { rules } from '../../../src/checks/validation/rules.ts'
import { FindingList } from '../../../src/findings/finding-list.ts'
import { loadCatalog } from './load-catalog.ts'
import { readCases } from './rule-fixtures.ts'
import type { FixtureCase } from './rule-fixtures.ts'

const cases = readCases()
const pages = join(import.meta.dirname, '../../../docs/rules')

function findingsOf({ directory, limits }: FixtureCase) {
  const view = viewCatalog(loadCatalog(directory))
  const list = new FindingList()
  for (const rule of rules) gather(rule, view, limits, list)
  return list.sorted()
}

describe('rules of our own, on their fixtures', () => {
  test.each(cases.map((one) => [`${one.id}/${one.kind}/${one.why}`, one] as const))('%s', (_name, one) => {
    const found = findingsOf(one).map(({ rule, at }) => (at ? `${at.file}:${at.line} ${rule}` : rule))
    expect(found.sort()).toEqual(one.expected)
    for (const { what, why, fix, subject } of findingsOf(one)) {
      expect([what, why, fix, subject].every((text) => text !== undefined && text !== '')).toBe(true)
      expect(`${what}${why}${fix}`).not.toMatch(/undefined|\[object|NaN/)
    }
  })
})

describe('every rule of our own', () => {
  test.each(rules.map((rule) => [rule.id, rule] as const))(
    '%s has a page and cases that prove it',
    (id, rule) => {
      const own = cases.filter((one) => one.id === id)
      expect(own.filter(({ kind }) => kind === 'good').length).toBeGreaterThan(0)
      expect(own.filter(({ kind }) => kind === 'bad').length).toBeGreaterThan(0)
      for (const { kind, expected } of own) {
        if (kind === 'good') expect(expected).toEqual([])
        else {
          expect(expected.length).toBeGreaterThan(0)
          // A bad case wakes no other rule, or nobody could tell what it proves.
          expect(expected.filter((marker) => !marker.endsWith(id))).toEqual([])
        }
      }
      const page = join(pages, `${id}.md`)
      expect(existsSync(page)).toBe(true)
      const text = readFileSync(page, 'utf8')
      expect(text).toMatch(/<!-- example bad\/[^ ]+ -->/)
      for (const heading of ['## What', '## Why', '## Fix']) {
        const body = text.split(`${heading}\n`)[1]?.split('\n## ')[0]?.trim() ?? ''
        expect(body.length).toBeGreaterThan(15)
      }
      expect(rule.title).not.toMatch(/\.$/)
    },
  )

  test('ids are unique, in kebab-case and sorted, and every folder of fixtures belongs to a rule', () => {
    const ids = rules.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(ids.filter((id) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id))).toEqual([])
    expect([...new Set(cases.map(({ id }) => id))].filter((id) => !ids.includes(id))).toEqual([])
  })
})
