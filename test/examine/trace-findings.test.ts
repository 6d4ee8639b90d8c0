// A finding's line opens where people see it: on the head, base moved or not; on the base where the head has no such line.
// Shown with a real git: the linked line says what the finding's line says.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pullNumber, type CommitSha, type TreeSha } from '../../src/change/ids.ts'
import { traceFindings } from '../../src/examine/trace-findings.ts'
import { whatMoved } from '../../src/examine/what-moved.ts'
import type { Finding } from '../../src/findings/finding.ts'
import { lineMap } from '../../src/findings/line-map.ts'
import { findingKey } from '../../src/messages/traced-line.ts'
import { openWorld, type World } from '../checks/ownership/world.ts'
import type { Files } from '../git/origin.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('traced')
}, 180_000)
afterAll(() => world.close())

const file = 'catalogs/v4.20/foo/catalog.yaml'
const entry = (version: string, replaces = '') =>
  `  - name: foo.v${version}\n${replaces === '' ? '' : `    replaces: foo.v${replaces}\n`}`
const channel = (...entries: string[]) =>
  `schema: olm.channel\npackage: foo\nname: stable\nentries:\n${entries.join('')}`
const notes = Array.from({ length: 12 }, (_, at) => `# note ${at}\n`).join('')
const old = `${channel(entry('1.0.0'), entry('1.1.0', '1.0.0'))}${notes}`

/** A finding on every line of the file that would land. */
async function everyLine(base: CommitSha, head: CommitSha) {
  world.origin.branch('main', base)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pullNumber(7))
  const merge = await world.mirror.merge(base, head, 'm')
  if (merge.kind !== 'clean') throw new Error(merge.kind)
  const textOf = async (tree: TreeSha) => {
    const blob = await world.mirror.entry(tree, file)
    return blob ? new TextDecoder().decode(await world.mirror.read(blob.oid)).split('\n') : []
  }
  const texts = {
    head: await textOf(await world.mirror.treeOf(head)),
    base: await textOf(await world.mirror.treeOf(base)),
  }
  const lines = await textOf(merge.tree)
  const findings = lines.map((_, at): Finding => ({
    ...{ rule: 'x', severity: 'error', what: '', why: '', fix: '' },
    at: { file, line: at + 1, column: 1 },
  }))
  const traced = await traceFindings(findings, { head, base, result: merge.tree }, world.mirror)
  const places = traced.lines.map(({ line, side, first }) => ({
    side,
    first,
    text: lines[line - 1],
    shown: texts[side][first - 1],
  }))
  return { lines, places, result: merge.tree, commits: { head, base, result: merge.tree } }
}

const commit = (text: string, parents: CommitSha[] = [], more: Files = {}) =>
  world.origin.commit({ [file]: text, ...more }, parents)

describe('every line of the result opens the same line', () => {
  test('on the head, where the base has not moved', async () => {
    const base = commit(old)
    const head = commit(
      `${channel(entry('1.0.0'), entry('1.1.0', '1.0.0'), entry('1.2.0', '1.0.0'))}${notes}`,
      [base],
    )
    const { lines, places } = await everyLine(base, head)
    expect(places).toHaveLength(lines.length)
    for (const { side, text, shown } of places) expect({ side, shown }).toEqual({ side: 'head', shown: text })
  })
  test('on the head or, for what another merge brought, on the base', async () => {
    const from = commit(old)
    const head = commit(`${old}${entry('0.9.0')}`, [from])
    const base = commit(
      `# moved\n# twice\n${channel(entry('0.1.0'), entry('1.0.0'), entry('1.1.0', '1.0.0'))}${notes}`,
      [from],
    )
    const { lines, places } = await everyLine(base, head)
    expect(places).toHaveLength(lines.length)
    for (const { text, shown } of places) expect(shown).toBe(text)
    const onBase = places.filter(({ side }) => side === 'base').map(({ text }) => text)
    expect(onBase).toEqual(['# moved', '# twice', '  - name: foo.v0.1.0'])
  })
  test('on the base, in a file that the head does not have yet', async () => {
    const from = world.origin.commit({ other: 'x\n' })
    const head = world.origin.commit({ other: 'y\n' }, [from])
    const base = commit(old, [from], { other: 'x\n' })
    const { places } = await everyLine(base, head)
    for (const { side, text, shown } of places) expect({ side, shown }).toEqual({ side: 'base', shown: text })
  })
})

describe('a fix', () => {
  const heads = (line: number): Finding => ({
    ...{ rule: 'several-heads', severity: 'error', what: 'w', why: '', fix: '' },
    at: { file, line, column: 1 },
    data: { package: 'foo', channel: 'stable', heads: ['foo.v1.1.0', 'foo.v1.2.0'] },
  })
  async function fixesAt(base: CommitSha, head: CommitSha, line = 1) {
    const { commits } = await everyLine(base, head)
    const { fixes, lines } = await traceFindings([heads(line)], commits, world.mirror)
    expect(fixes.map(({ finding }) => finding)).toEqual(fixes.length === 0 ? [] : [findingKey(heads(line))])
    return { fix: fixes[0], lines }
  }
  const forked = `${channel(entry('1.0.0'), entry('1.1.0', '1.0.0'), entry('1.2.0', '1.0.0'))}${notes}`

  test('is a suggestion on the head’s own lines, though the base has moved', async () => {
    const from = commit(old)
    const head = commit(forked, [from])
    const base = commit(`# moved\n${old}`, [from])
    const { fix, lines } = await fixesAt(base, head, 2)
    expect(fix?.fix).toMatchObject({ first: 9, last: 10 })
    expect(fix?.suggestion).toEqual({ first: 8, last: 9 })
    expect(lines).toContainEqual({ file, line: 9, side: 'head', first: 8, last: 9 })
  })
  test('is none where its lines are not in the diff of the pull request', async () => {
    const base = commit(forked)
    const head = commit(`${forked}# far below\n`, [base])
    expect(await fixesAt(base, head)).toMatchObject({ fix: { fix: { first: 8 } } })
    expect((await fixesAt(base, head)).fix).not.toHaveProperty('suggestion')
  })
  test('is none where its lines came with another merge', async () => {
    const from = commit(old)
    const base = commit(forked, [from])
    const head = commit(`${old}# mine\n`, [from])
    const { fix, lines } = await fixesAt(base, head)
    expect(fix).not.toHaveProperty('suggestion')
    expect(lines.find(({ line }) => line === 8)).toMatchObject({ side: 'base', first: 8 })
  })
})

describe('what came meanwhile', () => {
  const forked: Finding = {
    ...{ rule: 'several-heads', severity: 'error', what: 'w', why: '', fix: '' },
    at: { file, line: 1, column: 1 },
    data: { package: 'foo', channel: 'stable', heads: ['foo.v1.1.1', 'foo.v1.2.0'] },
  }
  test('is the commit that brought the other head, however many came before and after it', async () => {
    const from = commit(old)
    const head = commit(`${channel(entry('1.0.0'), entry('1.1.0', '1.0.0'), entry('1.1.1', '1.1.0'))}`, [
      from,
    ])
    const theirs = `${channel(entry('1.0.0'), entry('1.1.0', '1.0.0'), entry('1.2.0', '1.1.0'))}`
    const before = commit(`${old}# x\n`, [from])
    const brought = commit(theirs, [before])
    const base = commit(`${theirs}# y\n`, [brought])
    world.origin.branch('main', base)
    world.origin.pull(7, head)
    await world.mirror.fetch('main', pullNumber(7))
    const moved = await whatMoved([forked], { head, base }, world.mirror)
    expect(moved).toEqual([
      { commit: brought, entry: 'foo.v1.2.0', replaces: 'foo.v1.1.0', mine: 'foo.v1.1.1', isSame: true },
    ])
    expect(await whatMoved([forked], { head, base: from }, world.mirror)).toEqual([])
  })
})

describe('lines are matched', () => {
  test('by what they say, in their order', () => {
    const map = lineMap('a\nb\nc\nb\nd', 'x\na\nb\nb\nd\ny')
    expect([1, 2, 3, 4, 5].map(map)).toEqual([2, 3, undefined, 4, 5])
    expect([0, 6].map(map)).toEqual([undefined, undefined])
  })
  test('where too much differs, if they stand once in each', () => {
    const many = (word: string) => Array.from({ length: 2000 }, (_, at) => `${word} ${at}`).join('\n')
    const map = lineMap(`${many('old')}\nsame\ntwice\ntwice`, `same\ntwice\n${many('new')}`)
    expect([map(2001), map(2002), map(1)]).toEqual([1, undefined, undefined])
  })
})
