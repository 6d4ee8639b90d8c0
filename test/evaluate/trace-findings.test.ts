// The line of a finding links to the head, even if the base moved, or to the base if the head has no such line. Tested
// with real Git: the linked line has the same text as the line of the finding.
import { afterAll, describe, expect, test } from '@jest/globals'
import { type CommitSha, type TreeSha } from '../../src/pull-request/ids.ts'
import { traceFindingsToChangedLines } from '../../src/evaluate/trace-findings.ts'
import { findChannelHeadConflicts } from '../../src/evaluate/worker/prepare-report.ts'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { toFindingIdentityKey } from '../../src/report/report-options.ts'
import { createOwnershipScenario } from '../checks/ownership/ownership-scenario.ts'
import type { OriginFiles } from '../adapters/git/origin.ts'
import { createLineNumberMapper } from '../../packages/findings/src/lines.ts'

const scenario = await createOwnershipScenario('traced')
afterAll(() => scenario.close())

const catalogPath = 'catalogs/v4.20/foo/catalog.yaml'
const createChannelEntryYaml = (version: string, replaces = '') =>
  `  - name: foo.v${version}\n${replaces === '' ? '' : `    replaces: foo.v${replaces}\n`}`
const createChannelYaml = (...entries: string[]) =>
  `schema: olm.channel\npackage: foo\nname: stable\nentries:\n${entries.join('')}`
const yamlCommentBlock = Array.from({ length: 12 }, (_, at) => `# note ${at}\n`).join('')
const originalCatalogYaml = `${createChannelYaml(createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'))}${yamlCommentBlock}`

/** Creates a finding on every line of the merged file, and traces them. */
async function traceFindingOnEveryLine(base: CommitSha, head: CommitSha) {
  await scenario.fetchPull(base, head)
  const merge = await scenario.mirror.merge(base, head, 'm')
  if (merge.kind !== 'clean') throw new Error(merge.kind)
  const textOf = async (tree: TreeSha) => {
    const blob = await scenario.mirror.entry(tree, catalogPath)
    return blob ? new TextDecoder().decode(await scenario.mirror.read(blob.oid)).split('\n') : []
  }
  const linesBySide = {
    head: await textOf(await scenario.mirror.treeOf(head)),
    base: await textOf(await scenario.mirror.treeOf(base)),
  }
  const lines = await textOf(merge.tree)
  const findings = lines.map((_, at): Finding => ({
    ...{ rule: 'x', severity: 'error', what: '', why: '', fix: '' },
    at: { file: catalogPath, line: at + 1, column: 1 },
  }))
  const traced = await traceFindingsToChangedLines(
    findings,
    { head, base, result: merge.tree },
    scenario.mirror,
  )
  const locations = traced.lines.map(({ line, side, first }) => ({
    side,
    first,
    text: lines[line - 1],
    shown: linesBySide[side][first - 1],
  }))
  return {
    lines,
    places: locations,
    excerpts: traced.excerpts,
    result: merge.tree,
    commits: { head, base, result: merge.tree },
  }
}

const commitCatalogFile = (text: string, parents: CommitSha[] = [], more: OriginFiles = {}) =>
  scenario.origin.commit({ [catalogPath]: text, ...more }, parents)

describe('every line of the result links to the same line', () => {
  test('on the head if the base has not moved', async () => {
    const base = commitCatalogFile(originalCatalogYaml)
    const head = commitCatalogFile(
      `${createChannelYaml(createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'), createChannelEntryYaml('1.2.0', '1.0.0'))}${yamlCommentBlock}`,
      [base],
    )
    const { lines, places, excerpts } = await traceFindingOnEveryLine(base, head)
    expect(places).toHaveLength(lines.length)
    // The first errors come with the lines around them.
    expect(excerpts.slice(0, 3)).toEqual([
      { finding: expect.any(String), first: 1, lines: lines.slice(0, 3) },
      { finding: expect.any(String), first: 1, lines: lines.slice(0, 4) },
      { finding: expect.any(String), first: 1, lines: lines.slice(0, 5) },
    ])
    expect(excerpts.at(-1)).toMatchObject({ first: 10, lines: lines.slice(9, 14) })
    for (const { side, text, shown } of places) expect({ side, shown }).toEqual({ side: 'head', shown: text })
  })
  test('on the head, or on the base for lines from another merge', async () => {
    const from = commitCatalogFile(originalCatalogYaml)
    const head = commitCatalogFile(`${originalCatalogYaml}${createChannelEntryYaml('0.9.0')}`, [from])
    const base = commitCatalogFile(
      `# moved\n# twice\n${createChannelYaml(createChannelEntryYaml('0.1.0'), createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'))}${yamlCommentBlock}`,
      [from],
    )
    const { lines, places } = await traceFindingOnEveryLine(base, head)
    expect(places).toHaveLength(lines.length)
    for (const { text, shown } of places) expect(shown).toBe(text)
    const onBase = places.filter(({ side }) => side === 'base').map(({ text }) => text)
    expect(onBase).toEqual(['# moved', '# twice', '  - name: foo.v0.1.0'])
  })
  test('on the base in a file that the head does not have yet', async () => {
    const from = scenario.origin.commit({ other: 'x\n' })
    const head = scenario.origin.commit({ other: 'y\n' }, [from])
    const base = commitCatalogFile(originalCatalogYaml, [from], { other: 'x\n' })
    const { places } = await traceFindingOnEveryLine(base, head)
    for (const { side, text, shown } of places) expect({ side, shown }).toEqual({ side: 'base', shown: text })
  })
})

describe('a fix', () => {
  const heads = (line: number): Finding => ({
    ...{ rule: 'several-heads', severity: 'error', what: 'w', why: '', fix: '' },
    at: { file: catalogPath, line, column: 1 },
    data: { package: 'foo', channel: 'stable', heads: ['foo.v1.1.0', 'foo.v1.2.0'] },
  })
  async function fixesAt(base: CommitSha, head: CommitSha, line = 1) {
    const { commits } = await traceFindingOnEveryLine(base, head)
    const { fixes, lines } = await traceFindingsToChangedLines([heads(line)], commits, scenario.mirror)
    expect(fixes.map(({ finding }) => finding)).toEqual(
      fixes.length === 0 ? [] : [toFindingIdentityKey(heads(line))],
    )
    return { fix: fixes[0], lines }
  }
  const forked = `${createChannelYaml(createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'), createChannelEntryYaml('1.2.0', '1.0.0'))}${yamlCommentBlock}`

  test('is a suggestion on lines of the head, even if the base has moved', async () => {
    const from = commitCatalogFile(originalCatalogYaml)
    const head = commitCatalogFile(forked, [from])
    const base = commitCatalogFile(`# moved\n${originalCatalogYaml}`, [from])
    const { fix, lines } = await fixesAt(base, head, 2)
    expect(fix?.fix).toMatchObject({ first: 9, last: 10 })
    expect(fix?.suggestion).toEqual({ first: 8, last: 9 })
    expect(lines).toContainEqual({ file: catalogPath, line: 9, side: 'head', first: 8, last: 9 })
  })
  test('is not a suggestion if its lines are not in the diff of the pull request', async () => {
    const base = commitCatalogFile(forked)
    const head = commitCatalogFile(`${forked}# far below\n`, [base])
    expect(await fixesAt(base, head)).toMatchObject({ fix: { fix: { first: 8 } } })
    expect((await fixesAt(base, head)).fix).not.toHaveProperty('suggestion')
  })
  test('is not a suggestion if its lines came from another merge', async () => {
    const from = commitCatalogFile(originalCatalogYaml)
    const base = commitCatalogFile(forked, [from])
    const head = commitCatalogFile(`${originalCatalogYaml}# mine\n`, [from])
    const { fix, lines } = await fixesAt(base, head)
    expect(fix).not.toHaveProperty('suggestion')
    expect(lines.find(({ line }) => line === 8)).toMatchObject({ side: 'base', first: 8 })
  })
})

describe('a conflicting head on the base', () => {
  const forked: Finding = {
    ...{ rule: 'several-heads', severity: 'error', what: 'w', why: '', fix: '' },
    at: { file: catalogPath, line: 1, column: 1 },
    data: { package: 'foo', channel: 'stable', heads: ['foo.v1.1.1', 'foo.v1.2.0'] },
  }
  test('is traced to the commit that added it, between other commits', async () => {
    const from = commitCatalogFile(originalCatalogYaml)
    const head = commitCatalogFile(
      `${createChannelYaml(createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'), createChannelEntryYaml('1.1.1', '1.1.0'))}`,
      [from],
    )
    const theirs = `${createChannelYaml(createChannelEntryYaml('1.0.0'), createChannelEntryYaml('1.1.0', '1.0.0'), createChannelEntryYaml('1.2.0', '1.1.0'))}`
    const before = commitCatalogFile(`${originalCatalogYaml}# x\n`, [from])
    const conflictingCommit = commitCatalogFile(theirs, [before])
    const base = commitCatalogFile(`${theirs}# y\n`, [conflictingCommit])
    await scenario.fetchPull(base, head)
    const moved = await findChannelHeadConflicts([forked], { head, base }, scenario.mirror)
    expect(moved).toEqual([
      {
        commit: conflictingCommit,
        entry: 'foo.v1.2.0',
        replaces: 'foo.v1.1.0',
        mine: 'foo.v1.1.1',
        isSame: true,
      },
    ])
    expect(await findChannelHeadConflicts([forked], { head, base: from }, scenario.mirror)).toEqual([])
  })
})

describe('lines are matched', () => {
  test('by their text, in order', () => {
    const map = createLineNumberMapper('a\nb\nc\nb\nd', 'x\na\nb\nb\nd\ny')
    expect([1, 2, 3, 4, 5].map(map)).toEqual([2, 3, undefined, 4, 5])
    expect([0, 6].map(map)).toEqual([undefined, undefined])
  })
  test('in very different texts only if they are unique in both', () => {
    const many = (word: string) => Array.from({ length: 2000 }, (_, at) => `${word} ${at}`).join('\n')
    const map = createLineNumberMapper(`${many('old')}\nsame\ntwice\ntwice`, `same\ntwice\n${many('new')}`)
    expect([map(2001), map(2002), map(1)]).toEqual([1, undefined, undefined])
  })
})
