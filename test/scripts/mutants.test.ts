import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { fortyFiveBugs } from '../../scripts/forty-five-bugs.ts'
import { filesInWorlds, mutants } from '../../scripts/mutants.ts'

const root = join(import.meta.dirname, '..', '..')

test('every mutant still fits the code that it breaks, exactly once, and names a test that is there', () => {
  const wrong = mutants.flatMap(({ number, edits = [], test: killer }) => [
    ...edits
      .filter(({ file, search }) => {
        const path = join(root, file)
        return !existsSync(path) || readFileSync(path, 'utf8').split(search).length !== 2
      })
      .map(({ file, search }) => `${number}: ${file}: ${search}`),
    ...(killer !== undefined && !existsSync(join(root, killer[0])) ? [`${number}: no ${killer[0]}`] : []),
  ])
  expect(wrong).toEqual([])
})

test('a number stands for one mutant', () => {
  const numbers = mutants.map(({ number }) => number)
  expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([])
})

test('each of the forty-five bugs is made, by mutants that tests kill, and stands so in docs/mutants.md', () => {
  expect(fortyFiveBugs).toHaveLength(45)
  const killed = new Set(
    mutants.filter(({ test: killer }) => killer !== undefined).map(({ number }) => number),
  )
  const page = readFileSync(join(root, 'docs/mutants.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) +\| (.+?) +\| ([\d, ]+?) +\|/gm)].map(([, at, bug, made]) => [
    at,
    bug,
    made,
  ])
  expect(rows).toEqual(fortyFiveBugs.map(({ bug, made }, at) => [String(at + 1), bug, made.join(', ')]))
  expect(fortyFiveBugs.flatMap(({ made }) => made.filter((number) => !killed.has(number)))).toEqual([])
})

test('what runs in simulated worlds is known by what they import', () => {
  const files = filesInWorlds(root)
  expect(files).toContain('src/landing/land-train.ts')
  expect(files).toContain('src/github/still-as.ts')
  expect(files).not.toContain('src/app/edge/deliveries.ts')
})
