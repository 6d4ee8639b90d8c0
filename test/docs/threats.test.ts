// docs/dev/threats.md explains every threat number in the project, with its defense and its test, and links to existing files.
import { describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')
const threatsPage = readFileSync(join(projectRoot, 'docs/dev/threats.md'), 'utf8')

/** The rows of all tables, without those of headings and rules. */
const threatsPageTableRows: readonly (readonly string[])[] = threatsPage
  .split('\n')
  .filter((line) => /^\| (?:<a |[TI]\d)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
const threatCellPattern = /^<a id="(?<anchor>[ti]\d+)"><\/a>(?<number>[TI]\d+)$/
const threats = threatsPageTableRows.flatMap(([first = '', ...cells]) => {
  const { anchor, number } = threatCellPattern.exec(first)?.groups ?? {}
  return anchor === undefined || number === undefined ? [] : [{ anchor, number, cells }]
})
const threatNumbers = new Set(threats.map(({ number }) => number))
const attackRows = threatsPageTableRows.filter(([first = '']) => !first.startsWith('<a '))
const testCellPattern = /^(?:none|(?:\[[^\]]+\]\((?:\.\.\/\.\.\/test\/[^)]+)\)(?:, )?)+(?:, [a-z][^[\]|]+)?)$/

/** Every number from the first to the last of a range such as `T19 to T34`. */
function expandThreatNumberRange(from: string, to: string): string[] {
  const letter = from.charAt(0)
  const [first, last] = [Number(from.slice(1)), Number(to.slice(1))]
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const number = String(first + step)
    return letter + (letter === 'T' ? number.padStart(2, '0') : number)
  })
}

/** The threats and invariants that a text mentions, by number or by link. */
function findThreatNumbers(text: string): string[] {
  const ranges = [...text.matchAll(/\b(?<from>[TI]\d{1,2}) to (?<to>[TI]\d{1,2})\b/g)]
  return [
    ...(text.match(/\b[TI]\d{1,2}\b/g) ?? []),
    ...ranges.flatMap(({ groups }) => expandThreatNumberRange(groups?.from ?? '', groups?.to ?? '')),
  ]
}

/** The anchors of links to entries of the page, such as `threats.md#t75, #t76`. */
function findThreatAnchors(text: string): string[] {
  return [...text.matchAll(/threats\.md(?<anchors>#[ti]\d+(?:,? (?:and |to )?#[ti]\d+)*)/g)].flatMap(
    ({ groups }) => groups?.anchors?.match(/[ti]\d+/g) ?? [],
  )
}

/** The sources, tests, scripts, and pages of the project. */
function listProjectFiles(): string[] {
  const folders = ['src', 'packages', 'sandbox', 'simulate', 'test', 'scripts', 'bench', 'docs']
  const ours = folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mts|mjs|md)$/.test(path) && !/(?:^|\/)(?:node_modules|dist)\//.test(path))
      .map((path) => join(folder, path)),
  )
  const pages = readdirSync(projectRoot).filter((name) => name.endsWith('.md'))
  // This file contains example numbers.
  return [...ours, ...pages].filter((path) => path !== join('test', 'docs', 'threats.test.ts'))
}

const projectFiles = listProjectFiles().map((path) => ({
  path,
  text: readFileSync(join(projectRoot, path), 'utf8'),
}))

describe('the page of threats and invariants', () => {
  test('explains every number that the project mentions', () => {
    expect(projectFiles.length).toBeGreaterThan(300)
    const unexplained = projectFiles.flatMap(({ path, text }) =>
      findThreatNumbers(text)
        .filter((number) => !threatNumbers.has(number))
        .map((number) => `${path}: ${number}`),
    )
    expect(unexplained).toEqual([])
  })

  test('has every anchor that the project links to', () => {
    const anchors = new Set(threats.map(({ anchor }) => anchor))
    const links = projectFiles.flatMap(({ path, text }) =>
      findThreatAnchors(text).map((anchor) => ({ path, anchor })),
    )
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter(({ anchor }) => !anchors.has(anchor))).toEqual([])
  })

  test('explains each number once, in order, without gaps', () => {
    const lettered = (letter: string) => threats.filter(({ number }) => number.startsWith(letter))
    expect(threats.map(({ number }) => number)).toEqual([
      ...expandThreatNumberRange('T01', `T${lettered('T').length}`),
      ...expandThreatNumberRange('I1', `I${lettered('I').length}`),
    ])
    expect(threats.map(({ anchor }) => anchor)).toEqual(threats.map(({ number }) => number.toLowerCase()))
  })

  test('describes each entry with its defense and its test, or states that it has no test', () => {
    for (const { number, cells } of threats) {
      const [attack, defense, shown, ...others] = cells
      expect([number, others]).toEqual([number, []])
      expect([number, attack]).toEqual([number, expect.stringMatching(/^\*\*.+\.\*\* .+\.$/)])
      expect([number, defense]).toEqual([
        number,
        expect.stringMatching(/\]\(\.\.\/\.\.\/|^The project doesn't /),
      ])
      expect([number, shown]).toEqual([number, expect.stringMatching(testCellPattern)])
    }
  })

  test('lists attempted attacks with the threat, the result, and the test, or states that it has no test', () => {
    expect(attackRows.length).toBeGreaterThan(80)
    for (const [number = '', attack, result, shown, ...others] of attackRows) {
      expect([number, threatNumbers.has(number), others]).toEqual([number, true, []])
      expect([attack, result]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
      expect([attack, shown]).toEqual([attack, expect.stringMatching(testCellPattern)])
    }
  })

  test('links only to existing files, under their names', () => {
    const links = [...threatsPage.matchAll(/\[(?<label>[^\]]+)\]\((?<to>\.\.\/[^)]+)\)/g)].map(
      ({ groups }) => ({ label: groups?.label ?? '', to: groups?.to ?? '' }),
    )
    expect(links.length).toBeGreaterThan(250)
    expect(links.filter(({ to }) => !existsSync(join(projectRoot, 'docs', 'dev', to)))).toEqual([])
    expect(
      links.filter(
        ({ label, to }) =>
          ![to, to.replace(/(?:\.test)?\.ts$/, '')].map((it) => basename(it)).includes(label),
      ),
    ).toEqual([])
  })
})

test('a range expands to each of its numbers, and a link to each of its anchors', () => {
  expect(findThreatNumbers('(T38 to T40) and I9')).toEqual(['T38', 'T40', 'I9', 'T38', 'T39', 'T40'])
  expect(findThreatAnchors('docs/dev/threats.md#t08, #t09, and #t10')).toEqual(['t08', 't09', 't10'])
})
