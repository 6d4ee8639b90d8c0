import { describe, expect, test } from '@jest/globals'
import type { Json } from '../../../../packages/fbc/src/go/json/json.ts'
import { parseConstraint } from '../../../../src/checks/validation/view/constraint.ts'

const findConstraintProblems = (value: Json) =>
  parseConstraint(value).problems.map(({ path, problem }) => `${path}: ${problem}`)

describe('the structure of a constraint', () => {
  test('each kind is parsed, including nested constraints, with case-insensitive keys', () => {
    const value = {
      failureMessage: 'm',
      All: {
        constraints: [
          { gvk: { group: 'g', version: 'v1', kind: 'K' } },
          { not: { constraints: [{ package: { packageName: 'p', versionRange: '1.0.0' } }] } },
          { cel: { rule: 'true' } },
        ],
      },
    }
    expect(parseConstraint(value)).toEqual({
      problems: [],
      constraint: {
        kind: 'all',
        constraints: [
          { kind: 'gvk', group: 'g', version: 'v1', apiKind: 'K' },
          { kind: 'not', constraints: [{ kind: 'package', packageName: 'p', versionRange: '1.0.0' }] },
          { kind: 'cel', rule: 'true' },
        ],
      },
    })
  })

  test('every problem is reported with its path', () => {
    expect(findConstraintProblems('text')).toEqual([': is not a mapping'])
    expect(findConstraintProblems({})).toEqual([': has none of gvk, package, cel, all, any, not'])
    expect(findConstraintProblems({ cel: { rule: 1 }, extra: 1 })).toEqual([
      ': has an unknown field "extra", so OLM rejects the entire constraint',
      'cel: has a rule that is not a string',
    ])
    expect(
      findConstraintProblems({
        any: { constraints: [{ gvk: { group: 'g', plural: 'x' } }, { all: { constraints: [] } }] },
      }),
    ).toEqual([
      'any.constraints[0].gvk: has an unknown field "plural", so OLM rejects the entire constraint',
      'any.constraints[0].gvk: has no version',
      'any.constraints[0].gvk: has no kind',
      'any.constraints[1].all: has no list of constraints',
    ])
  })

  test('a constraint that is too large or too deeply nested is rejected', () => {
    expect(findConstraintProblems({ cel: { rule: 'x'.repeat(140_000) } })).toEqual([
      ': is 140019 bytes long, but OLM accepts at most 131072',
    ])
    let deep: Json = { cel: { rule: 'true' } }
    for (let level = 0; level < 500; level++) deep = { not: { constraints: [deep] } }
    expect(findConstraintProblems(deep).join()).toMatch(/: is nested more than 64 levels deep$/)
  })

  test('a CEL rule must compile in the environment of OLM and return a boolean', () => {
    const rule = (text: string) => findConstraintProblems({ cel: { rule: text } })
    for (const sound of [
      'true',
      'properties.exists(p, p.type == "certified")',
      'properties.exists(p, p.type == "olm.package" && p.value.packageName == "a" && semver_compare(p.value.version, "1.0.0") >= 0)',
      'properties.all(p, p.value.matches("^a+$")) ? true : false',
      'has(properties[0].type)',
    ])
      expect([sound, rule(sound)]).toEqual([sound, []])
    for (const broken of [
      'properties.exists(p, p.type ==',
      'props.size() > 0',
      'semver_compare("1.0.0") > 0',
      '"a" == 1',
      'size(properties)',
      '1 +',
      '('.repeat(10_000),
    ])
      expect(rule(broken)).toHaveLength(1)
  })
})
