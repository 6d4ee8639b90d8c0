// `check` of a head without new commits: one sentence, and nothing about checks that will not run.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const repositoryDirectory = createSelfRemovingDirectory('nothing-to-merge')
const catalogPath = join(repositoryDirectory, 'foo', 'catalog.yaml')
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid', ...args], {
    cwd: repositoryDirectory,
    stdio: 'ignore',
  })
beforeAll(() => {
  git('init', '-q', '-b', 'main')
  mkdirSync(join(repositoryDirectory, 'foo'))
  writeFileSync(catalogPath, 'schema: olm.package\nname: foo\n')
  writeFileSync(join(repositoryDirectory, 'foo', 'OWNERS'), 'approvers: [olga]\n')
  git('add', '.')
  git('commit', '-q', '-m', 'first')
})

const runCheckCommand = (...more: string[]) =>
  runCatalogBot('check', '--repo', repositoryDirectory, '--base', 'main', '--author', 'alice', ...more)

test('a head without new commits is reported in one sentence', async () => {
  expect(await runCheckCommand()).toEqual({
    code: 1,
    out: 'Nothing to merge: all commits in HEAD are already on main.\n',
    err: '',
  })
})

test('the JSON output has one reason', async () => {
  const { out } = await runCheckCommand('-o', 'json')
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'blocked',
    reasons: [{ code: 'nothing-to-merge', text: 'all commits in the pull request are already on main' }],
  })
})

test('an unknown author owns no package, and the command explains how to specify the author', async () => {
  const { code, out, err } = await runCatalogBot('check', '--repo', repositoryDirectory, '--base', 'main')
  expect([code, out]).toEqual([1, 'Nothing to merge: all commits in HEAD are already on main.\n'])
  expect(err).toMatch(/^The author of the pull request is unknown, .*Use --author LOGIN/)
  git('checkout', '-q', '-b', 'update')
  writeFileSync(catalogPath, 'schema: olm.package\nname: foo\ndescription: Foo.\n')
  git('commit', '-q', '-a', '-m', 'second')
  const changed = await runCatalogBot('check', '--repo', repositoryDirectory, '--base', 'main', '--offline')
  git('checkout', '-q', 'main')
  expect(changed.out).toContain('and the author is not one of its owners (olga)')
})
