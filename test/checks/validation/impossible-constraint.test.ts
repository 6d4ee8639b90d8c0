import { expect, test } from '@jest/globals'
import { listPackagesRequiredTogether } from '../../../src/checks/validation/rules/constraints.ts'
import type { OlmConstraint } from '../../../src/checks/validation/view/constraint.ts'

const pack = (packageName: string): OlmConstraint => ({ kind: 'package', packageName, versionRange: '1.0.0' })
const group = (kind: 'all' | 'any' | 'not', ...constraints: OlmConstraint[]): OlmConstraint => ({
  kind,
  constraints,
})

test.each([
  ['all(a, b)', group('all', pack('a'), pack('b')), ['a', 'b']],
  ['all(a, all(b))', group('all', pack('a'), group('all', pack('b'))), ['a', 'b']],
  ['all(a, a)', group('all', pack('a'), pack('a')), ['a']],
  ['all(a, any(b, c))', group('all', pack('a'), group('any', pack('b'), pack('c'))), ['a']],
  ['any(all(a, b), c)', group('any', group('all', pack('a'), pack('b')), pack('c')), []],
  ['not(all(a, b))', group('not', group('all', pack('a'), pack('b'))), []],
])('%s requires one bundle to be in the packages %j', (_text, constraint, packages) => {
  expect([...listPackagesRequiredTogether(constraint)]).toEqual(packages)
})
