// docs/dev/threats.md explains every threat number in code, tests, and pages, and links only to existing files.
import { describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')
const threatsPage = readFileSync(join(projectRoot, 'docs/dev/threats.md'), 'utf8')

interface ThreatSection {
  readonly number: string
  readonly text: string
}

const threatSections: readonly ThreatSection[] = threatsPage
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ number: text.slice(0, text.indexOf(':')), text }))
const threatNumbers = new Set(threatSections.map(({ number }) => number))

/** Every number from the first to the last of a range such as `T19 to T34`. */
function expandThreatNumberRange(from: string, to: string): string[] {
  const letter = from.charAt(0)
  const [first, last] = [Number(from.slice(1)), Number(to.slice(1))]
  return Array.from({ length: last - first + 1 }, (_, step) => {
    const number = String(first + step)
    return letter + (letter === 'T' ? number.padStart(2, '0') : number)
  })
}

/** The threats and invariants that a text mentions. */
function findThreatNumbers(text: string): string[] {
  const ranges = [...text.matchAll(/\b(?<from>[TI]\d{1,2}) to (?<to>[TI]\d{1,2})\b/g)]
  return [
    ...(text.match(/\b[TI]\d{1,2}\b/g) ?? []),
    ...ranges.flatMap(({ groups }) => expandThreatNumberRange(groups?.from ?? '', groups?.to ?? '')),
  ]
}

/** The sources, tests, scripts, and pages of the project. */
function listProjectFiles(): string[] {
  const ours = ['src', 'test', 'scripts', 'bench', 'docs'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mts|mjs|md)$/.test(path))
      .map((path) => join(folder, path)),
  )
  const pages = readdirSync(projectRoot).filter((name) => name.endsWith('.md'))
  // This file contains example numbers.
  return [...ours, ...pages].filter((path) => path !== join('test', 'docs', 'threats.test.ts'))
}

describe('the page of threats and invariants', () => {
  test('explains every number that the project mentions', () => {
    const files = listProjectFiles()
    expect(files.length).toBeGreaterThan(300)
    const unexplained = files.flatMap((path) =>
      findThreatNumbers(readFileSync(join(projectRoot, path), 'utf8'))
        .filter((number) => !threatNumbers.has(number))
        .map((number) => `${path}: ${number}`),
    )
    expect(unexplained).toEqual([])
  })

  test('explains each number once, in order, without gaps', () => {
    const threats = threatSections.filter(({ number }) => number.startsWith('T'))
    const invariants = threatSections.filter(({ number }) => number.startsWith('I'))
    expect(threatSections.map(({ number }) => number)).toEqual([
      ...expandThreatNumberRange('T01', `T${threats.length}`),
      ...expandThreatNumberRange('I1', `I${invariants.length}`),
    ])
  })

  test('describes each entry with its defense and its test, or states that it has no test', () => {
    for (const { number, text } of threatSections) {
      const [, idea, ...facts] = text.trim().split('\n\n')
      expect([number, idea]).toEqual([number, expect.stringMatching(/^[^-].*\.$/)])
      const list = facts[0] ?? ''
      expect([number, list]).toEqual([number, expect.stringMatching(/^- Defense: .+\n- Test: .+/)])
      const shown = /^- Test: (?<what>.+)$/m.exec(list)?.groups?.what ?? ''
      expect([number, shown]).toEqual([number, expect.stringMatching(/^none\.$|\]\(\.\.\/test\//)])
    }
  })

  test('links only to existing files', () => {
    const links = [...threatsPage.matchAll(/\]\((?<to>[^)]+)\)/g)].map(({ groups }) => groups?.to ?? '')
    expect(links.length).toBeGreaterThan(150)
    expect(links.filter((to) => !existsSync(join(projectRoot, 'docs', 'dev', to)))).toEqual([])
  })
})

test('a range expands to each of its numbers', () => {
  expect(findThreatNumbers('(T38 to T40) and I9')).toEqual(['T38', 'T40', 'I9', 'T38', 'T39', 'T40'])
})
