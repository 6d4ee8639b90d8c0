import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { filesOf, register, writeRule } from '../../scripts/new-rule.ts'

const project = join(import.meta.dirname, '../..')
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'new-rule-'))
  cpSync(join(project, 'package.json'), join(root, 'package.json'))
  cpSync(join(project, 'src'), join(root, 'src'), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
})

afterEach(() => {
  rmSync(root, { recursive: true })
})

describe('a new rule', () => {
  test('has a file, a page, two fixtures and a place in the registry, and runs', () => {
    expect(writeRule(root, 'three-heads')).toEqual([
      'src/checks/validation/rules/three-heads.ts',
      'docs/rules/three-heads.md',
      'fixtures/rules/three-heads/good/plain/catalog.yaml',
      'fixtures/rules/three-heads/bad/rename-me/catalog.yaml',
      'src/checks/validation/rules.ts',
    ])
    const script = `const { rules } = await import(${JSON.stringify(join(root, 'src/checks/validation/rules.ts'))})
      console.log(rules.map(({ id }) => id).join())`
    const ids = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    }).trim()
    expect(ids.split(',')).toContain('three-heads')
    expect(ids.split(',')).toEqual(ids.split(',').sort())
    expect(readFileSync(join(root, 'docs/rules/three-heads.md'), 'utf8')).toMatch(/^# three-heads\n/)
    expect(readFileSync(join(root, 'fixtures/rules/three-heads/bad/rename-me/catalog.yaml'), 'utf8')).toMatch(
      / # three-heads$/m,
    )
  })

  test('overwrites nothing', () => {
    writeRule(root, 'three-heads')
    expect(() => writeRule(root, 'three-heads')).toThrow(/exists already/)
    expect(() => register("import { twoHeads } from './rules/two-heads.ts'\n", 'two-heads')).toThrow(
      /already/,
    )
  })

  test('is named in kebab-case', () => {
    for (const id of ['TwoHeads', 'two_heads', '../escape', '', '-x', 'x-', '2-heads'])
      expect(() => filesOf(id)).toThrow(TypeError)
  })
})
