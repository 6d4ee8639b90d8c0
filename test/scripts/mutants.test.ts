import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { mutants } from '../../scripts/mutants.ts'

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
