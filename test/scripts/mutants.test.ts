import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { findCodeFragments, applyRenames, tokenizeCode } from '../../scripts/code-fragments.ts'
import {
  listSimulatorFiles,
  locateEdit,
  locateTestFile,
  createSourceReader,
  readMutants,
} from '../../scripts/mutants.ts'

const projectRoot = join(import.meta.dirname, '..', '..')
const allMutants = readMutants(projectRoot)

test('every mutant fits the code it breaks, and its test file exists', () => {
  const sources = createSourceReader(projectRoot)
  const wrong = allMutants.flatMap(({ id, edits = [], test: killer }) => [
    ...edits.flatMap((edit) => {
      const located = locateEdit(sources, edit)
      return typeof located === 'string' ? [`${id}: ${edit.file}: ${located}`] : []
    }),
    ...(killer !== undefined && locateTestFile(projectRoot, killer[0]) === undefined
      ? [`${id}: no ${killer[0]}`]
      : []),
  ])
  expect(wrong).toEqual([])
})

test('a mutant uses only names that exist, so that it fails because of the bug that it describes', () => {
  const sources = createSourceReader(projectRoot)
  const unknown = allMutants.flatMap(({ id, edits = [] }) => {
    const located = edits.map((edit) => locateEdit(sources, edit)).filter((one) => typeof one !== 'string')
    const added = located.flatMap(({ replacement }) => listDeclaredIdentifiers(replacement))
    return located.flatMap(({ file, replacement }) => {
      const known = new Set([...added, ...sources.read(file).tokens.map(({ text }) => text)])
      return listUsedIdentifiers(replacement)
        .filter((name) => !known.has(name) && name !== 'any' && !(name in globalThis))
        .map((name) => `${id}: ${name}`)
    })
  })
  expect(unknown).toEqual([])
})

/** Variables and parameters. */
const listDeclaredIdentifiers = (code: string): readonly string[] =>
  [
    ...code.matchAll(/\b(?:const|let|function) (\w+)|(\w+) =>|\((\w+)(?:, (\w+))?\) =>|function \w+\((\w+)/g),
  ].flatMap((match) => match.slice(1).filter((name) => name !== undefined))

/** Without the names of properties and types. */
function listUsedIdentifiers(code: string): readonly string[] {
  const tokens = tokenizeCode(code)
  return tokens
    .filter(
      ({ text, kind }, index) =>
        kind === 'name' &&
        /^[A-Za-z_$]/.test(text) &&
        !['.', 'as'].includes(tokens[index - 1]?.text ?? '') &&
        tokens[index + 1]?.text !== ':',
    )
    .map(({ text }) => text)
}

test('ids are unique', () => {
  const ids = allMutants.map(({ id }) => id)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

test('the files that simulated runs execute are found by their imports', () => {
  const files = listSimulatorFiles(projectRoot)
  expect(files).toContain('src/merge/merge-batch.ts')
  expect(files).toContain('src/adapters/github/graphql-pull.ts')
  expect(files).not.toContain('src/server/serve.ts')
})

describe('a fragment of code', () => {
  const fragment = tokenizeCode("if (head !== expected.head) throw new Moved('the head moved', head)")
  const matches = (source: string) => findCodeFragments(fragment, tokenizeCode(source))

  test('is found after names, messages, comments, and formatting changed', () => {
    const source = `const a = 1
      // The tip is another.
      if (tip !== wanted.tip)
        throw new Conflict('someone pushed a commit', tip)`
    expect(matches(source)).toHaveLength(1)
    expect(applyRenames('accept(head, expected.base)', matches(source)[0]?.names ?? new Map())).toBe(
      'accept(tip, wanted.base)',
    )
  })

  test('is found after a template string was reworded, even with other values in it', () => {
    const thrown = tokenizeCode('if (old) throw new Stale(`${name} was read before ${time}`)')
    const source = 'if (stale) throw new Outdated(`the copy of ${file} is older than the base branch`)'
    expect(findCodeFragments(thrown, tokenizeCode(source))).toHaveLength(1)
  })

  test('is not found when an operator or a name’s role changed', () => {
    expect(matches("if (tip === wanted.tip) throw new Conflict('someone pushed', tip)")).toEqual([])
    expect(matches("if (tip !== wanted.base) throw new Conflict('someone pushed', tip)")).toEqual([])
    expect(matches("if (tip !== wanted.tip) throw new Conflict('someone pushed', wanted)")).toEqual([])
  })

  test('is at the match with more of the same names if two have its structure', () => {
    const twice =
      "if (head !== expected.head) throw new Moved('a b', head)\nif (a !== b.a) throw new C('a b', a)"
    expect(matches(twice).map(({ same }) => same)).toEqual([5, 0])
  })
})
