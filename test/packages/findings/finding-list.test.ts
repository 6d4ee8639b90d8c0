import { expect, jest, test } from '@jest/globals'
import type { Finding } from '../../../packages/findings/src/finding.ts'
import { FindingList, getOmittedFindingCount } from '../../../packages/findings/src/finding-list.ts'
import type { FindingRule } from '../../../packages/findings/src/rule.ts'

const sampleRule: FindingRule<{ name: string }> = {
  id: 'r',
  check: 'validation',
  judges: 'catalog',
  since: '0.1.0',
  severity: 'warning',
  title: '',
  what: ({ name }) => name,
  why: '',
  fix: '',
}
const createLocationAtLine = (line: number) => ({ file: 'c.yaml', line, column: 1 })
const listFindingLineNumbers = (findings: readonly Finding[]) => findings.map((found) => found.at?.line)

test('the first findings of each rule by location are kept, in any order of adding', () => {
  const list = new FindingList(3)
  for (const line of [70, 20, 90, 10, 60, 30, 80, 50, 40])
    list.add(sampleRule, createLocationAtLine(line), { name: 'a' })
  list.add({ ...sampleRule, id: 's' }, createLocationAtLine(5), { name: 'b' })
  expect(listFindingLineNumbers(list.sorted())).toEqual([undefined, 5, 10, 20, 30])
})

test('the others are counted in one finding with the same rule and severity', () => {
  const list = new FindingList(3)
  for (let line = 1; line <= 10_000; line++) list.add(sampleRule, createLocationAtLine(line), { name: 'a' })
  const [left, ...listed] = list.sorted()
  expect(left).toMatchObject({
    ...{ rule: 'r', severity: 'warning', what: '9997 more findings for this rule are not shown' },
    data: { leftOut: 9997 },
  })
  expect(listed).toHaveLength(3)
  expect([left, ...listed].map((found) => found && getOmittedFindingCount(found))).toEqual([9997, 0, 0, 0])
})

test('messages are rendered for few more findings than are kept', () => {
  const what = jest.fn(({ name }: { name: string }) => name)
  const list = new FindingList(10)
  for (let line = 1; line <= 100_000; line++)
    list.add({ ...sampleRule, what }, createLocationAtLine(line), { name: 'a' })
  expect(listFindingLineNumbers(list.sorted())).toHaveLength(11)
  expect(what).toHaveBeenCalledTimes(20)
})

test('no omitted findings are counted if all are kept', () => {
  const list = new FindingList(3)
  for (const line of [3, 1, 2]) list.add(sampleRule, createLocationAtLine(line), { name: 'a' })
  expect(listFindingLineNumbers(list.sorted())).toEqual([1, 2, 3])
  expect(new FindingList(3).sorted()).toEqual([])
})

test('identical findings at one location are one finding', () => {
  const list = new FindingList(2)
  for (const line of [1, 2, 1, 2]) list.add(sampleRule, createLocationAtLine(line), { name: 'a' })
  list.add(sampleRule, createLocationAtLine(1), { name: 'b' })
  expect(list.sorted().map(({ what }) => what)).toEqual([
    '1 more finding for this rule is not shown',
    'a',
    'b',
  ])
})

test('findings without a location are kept and counted like others', () => {
  const list = new FindingList(2)
  for (const name of ['d', 'a', 'c', 'b', 'e']) list.add(sampleRule, undefined, { name })
  expect(list.sorted().map(({ what }) => what)).toEqual([
    '3 more findings for this rule are not shown',
    'a',
    'b',
  ])
})

test('existing findings that are added are limited, too', () => {
  const list = new FindingList(2)
  list.addAll(
    [5, 4, 3, 2, 1].map((line) => ({
      rule: 'q',
      severity: 'error',
      what: '',
      why: '',
      fix: '',
      at: createLocationAtLine(line),
    })),
  )
  expect(listFindingLineNumbers(list.sorted())).toEqual([undefined, 1, 2])
})
