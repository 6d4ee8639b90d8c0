// Without a directory argument, commands use the catalogs that catalog-bot detects in the current repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { runCatalogBotInDirectory } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const temporaryDirectory = createSelfRemovingDirectory('local-catalogs')

const catalogYaml = 'schema: olm.package\nname: tern\ndefaultChannel: stable\n'

function createGitRepository(name: string, files: Record<string, string>): string {
  const top = join(temporaryDirectory, name)
  writeFiles(top, files)
  execFileSync('git', ['init', '-q', top])
  return top
}

const runValidateCommand = async (directory: string, ...more: string[]) => {
  const { out, code, err } = await runCatalogBotInDirectory(
    directory,
    'validate',
    '--no-cache',
    '-o',
    'json',
    ...more,
  )
  const lines = out.split('\n').filter((line) => line !== '')
  return { code, err, dirs: lines.map((line) => (JSON.parse(line) as { dir: string }).dir) }
}

test('validate checks every catalog of the repository from any directory, older versions first', async () => {
  const top = createGitRepository('versions', {
    'catalogs/v4.20/tern/catalog.yaml': catalogYaml,
    'catalogs/v4.9/tern/catalog.yaml': catalogYaml,
    'operators/tern/ci.yaml': 'reviewers: []\n',
  })
  expect(await runValidateCommand(top)).toMatchObject({ code: 1, dirs: ['catalogs/v4.9', 'catalogs/v4.20'] })
  const inside = join(top, 'catalogs', 'v4.20')
  expect(await runValidateCommand(inside)).toMatchObject({ dirs: ['../v4.9', '.'] })
  const graph = await runCatalogBotInDirectory(top, 'graph')
  expect(graph.code).toBe(2)
  expect(graph.err).toContain(
    'the repository contains 2 catalogs; specify one of them: catalogs/v4.9 catalogs/v4.20',
  )
})

test('catalogs are found by the content of their files, or by the configuration', async () => {
  const top = createGitRepository('odd', {
    'deploy/index/tern.yaml': catalogYaml,
    'deploy/values.yaml': 'a: 1\n',
  })
  expect(await runValidateCommand(top)).toMatchObject({ dirs: ['deploy/index'] })
  expect((await runCatalogBotInDirectory(top, 'graph')).code).toBe(0)
  mkdirSync(join(top, '.github'))
  writeFileSync(join(top, '.github', 'catalog-bot.yml'), 'catalogs:\n  - path: deploy\n')
  expect(await runValidateCommand(top)).toMatchObject({ dirs: ['deploy'] })
  expect(await runValidateCommand(top, '--no-config')).toMatchObject({ dirs: ['deploy/index'] })
})

test('the error reports that there is no catalog or no Git repository', async () => {
  const top = createGitRepository('none', { 'README.md': 'x' })
  const found = await runValidateCommand(top)
  expect(found).toMatchObject({ code: 2, dirs: [] })
  expect(found.err).toContain('no catalog found')
  mkdirSync(join(temporaryDirectory, 'no-repository'))
  expect((await runValidateCommand(join(temporaryDirectory, 'no-repository'))).err).toContain(
    'not in a Git repository',
  )
})
