import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { findShape, renamed, tokensOf } from '../../scripts/code-shape.ts'
import { filesInSimulator, locate, locateTest, openSources, readMutants } from '../../scripts/mutants.ts'

const root = join(import.meta.dirname, '..', '..')
const mutants = readMutants(root)

test('every mutant fits the code it breaks, and its test file exists', () => {
  const sources = openSources(root)
  const wrong = mutants.flatMap(({ id, edits = [], test: killer }) => [
    ...edits.flatMap((edit) => {
      const located = locate(sources, edit)
      return typeof located === 'string' ? [`${id}: ${edit.file}: ${located}`] : []
    }),
    ...(killer !== undefined && locateTest(root, killer[0]) === undefined ? [`${id}: no ${killer[0]}`] : []),
  ])
  expect(wrong).toEqual([])
})

test('ids are unique', () => {
  const ids = mutants.map(({ id }) => id)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

test('the files that simulated runs execute are found by their imports', () => {
  const files = filesInSimulator(root)
  expect(files).toContain('src/landing/land-train.ts')
  expect(files).toContain('src/github/still-as.ts')
  expect(files).not.toContain('src/app/edge/deliveries.ts')
})

describe('a fragment of code', () => {
  const fragment = tokensOf("if (head !== expected.head) throw new Moved('the head moved', head)")
  const matches = (source: string) => findShape(fragment, tokensOf(source))

  test('is found after names, sentences, comments and layout changed', () => {
    const source = `const a = 1
      // The tip is another.
      if (tip !== wanted.tip)
        throw new Conflict('someone pushed a commit', tip)`
    expect(matches(source)).toHaveLength(1)
    expect(renamed('accept(head, expected.base)', matches(source)[0]?.names ?? new Map())).toBe(
      'accept(tip, wanted.base)',
    )
  })

  test('is not found when an operator or a name’s role changed', () => {
    expect(matches("if (tip === wanted.tip) throw new Conflict('someone pushed', tip)")).toEqual([])
    expect(matches("if (tip !== wanted.base) throw new Conflict('someone pushed', tip)")).toEqual([])
    expect(matches("if (tip !== wanted.tip) throw new Conflict('someone pushed', wanted)")).toEqual([])
  })

  test('is in no other place when two have its shape: the one with more of its names counts', () => {
    const twice =
      "if (head !== expected.head) throw new Moved('a b', head)\nif (a !== b.a) throw new C('a b', a)"
    expect(matches(twice).map(({ same }) => same)).toEqual([5, 0])
  })
})
