// What every rule must have: a good example, and a bad one, with the results that they declare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readExampleCases, type ExampleCase } from '../../scripts/rule-examples/cases.ts'
import { evaluateRuleExample } from '../../scripts/rule-examples/evaluate-example.ts'
import { findDefinedRules, renderRuleLists } from '../../scripts/rule-lists.ts'
import { allRules } from '../../src/checks/all-rules.ts'

const projectRoot = join(import.meta.dirname, '../..')
const ruleExampleCases = readExampleCases()
const formatExampleCaseName = (one: ExampleCase) => `${one.id}/${one.kind}/${one.why}`

describe('every example has the result that its folder declares', () => {
  test.each(ruleExampleCases.map((one) => [formatExampleCaseName(one), one] as const))(
    '%s',
    async (_name, one) => {
      const { findings } = await evaluateRuleExample(one)
      const alongside = Object.keys(one.settings.alongside ?? {})
      const found = findings.filter(({ rule }) => !alongside.includes(rule))
      // A bad example violates only its rule, because otherwise it is unclear what it proves.
      const others = found.filter(({ rule }) => one.kind === 'good' || rule !== one.id)
      expect({
        foundBesides: others.map(
          ({ rule, at, what }) => `${rule}: ${at?.file ?? ''}:${at?.line ?? ''} ${what}`,
        ),
        findsItsOwn: found.some(({ rule }) => rule === one.id),
      }).toEqual({ foundBesides: [], findsItsOwn: one.kind === 'bad' })
      // The excused findings must exist, because otherwise the excuse is outdated.
      expect(findings.map(({ rule }) => rule)).toEqual(expect.arrayContaining(alongside))
      if (one.marked.length > 0)
        expect(found.map(({ at, rule }) => (at ? `${at.file}:${at.line} ${rule}` : rule)).sort()).toEqual(
          one.marked,
        )
      for (const { what, why, fix, rule } of found) {
        expect({ rule, words: [what, fix].every((text) => text !== '') }).toEqual({ rule, words: true })
        expect(`${what}${why}${fix}`).not.toMatch(/undefined|\[object|NaN/)
      }
    },
  )
})

describe('every rule', () => {
  test.each(allRules.map((rule) => [rule.id, rule] as const))(
    '%s has everything that a rule requires',
    (id, rule) => {
      expect(id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)
      expect(rule.title).toMatch(/^[A-Za-z].*[^.]$/)
      const own = ruleExampleCases.filter((one) => one.id === id)
      expect({
        good: own.some(({ kind }) => kind === 'good'),
        bad: own.some(({ kind }) => kind === 'bad'),
      }).toEqual({ good: true, bad: true })
      for (const { kind, marked } of own) {
        if (kind === 'good') expect(marked).toEqual([])
        expect(marked.filter((mark) => !mark.endsWith(id))).toEqual([])
      }
    },
  )

  test('is in the list exactly once, and every folder of examples belongs to a rule', () => {
    const ids = allRules.map(({ id }) => id)
    expect(ids.toSorted()).toEqual([...findDefinedRules(projectRoot).keys()].sort())
    expect(new Set(ids).size).toBe(ids.length)
    expect([...new Set(ruleExampleCases.map(({ id }) => id))].filter((id) => !ids.includes(id))).toEqual([])
  })

  test('of a suite finds nothing if the suite is not requested', async () => {
    const optional = new Map(allRules.flatMap(({ id, suite }) => (suite === undefined ? [] : [[id, suite]])))
    for (const one of ruleExampleCases.filter(({ id, kind }) => kind === 'bad' && optional.has(id))) {
      const { findings } = await evaluateRuleExample(one, { suites: [] })
      expect({ id: one.id, found: findings.map(({ rule }) => rule) }).toEqual({ id: one.id, found: [] })
    }
    expect(optional.size).toBeGreaterThan(10)
  })

  test('is enforced by opm exactly if its bad example has an opm message', async () => {
    for (const one of ruleExampleCases.filter(({ kind, judges }) => kind === 'bad' && judges === 'catalog')) {
      const rule = allRules.find(({ id }) => id === one.id)
      const { message } = await evaluateRuleExample(one)
      // The message for a file that cannot be opened comes from the operating system.
      if (one.id !== 'file-unreadable')
        expect({ rule: one.id, refused: message !== undefined }).toEqual({
          rule: one.id,
          refused: rule?.fixed === true,
        })
    }
  })
})

test('lists of rules match the output of the script', () => {
  for (const [path, text] of renderRuleLists(projectRoot))
    expect(readFileSync(join(projectRoot, path), 'utf8')).toBe(text)
})
