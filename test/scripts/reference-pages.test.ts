// The pages of docs/reference follow the code: a change of a default, of a description, or of a setting shows up in them.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')
let copy = ''

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'reference-'))
  for (const path of [
    'app.yml',
    'deploy',
    'docs',
    'etc',
    'package.json',
    'packages',
    'scripts',
    'src',
    '.prettierrc.json',
  ])
    cpSync(join(projectRoot, path), join(copy, path), { recursive: true })
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(copy, { recursive: true }))

const checkPages = () =>
  spawnSync(process.execPath, ['--no-warnings', 'scripts/reference-pages.ts', '--check'], {
    cwd: copy,
    encoding: 'utf8',
  })

function edit(path: string, before: string, after: string): void {
  const text = readFileSync(join(copy, path), 'utf8')
  expect(text).toContain(before)
  writeFileSync(join(copy, path), text.replace(before, after))
}

test('the pages are up to date, and a changed default or reason in the code makes them out of date', () => {
  expect(checkPages()).toMatchObject({ status: 0, stdout: '' })
  edit(
    'src/jobs/settings.ts',
    'SWEEP_SECONDS: secondsSchema.default(180)',
    'SWEEP_SECONDS: secondsSchema.default(181)',
  )
  edit('src/cli/commands/image-commands.ts', '.default(50051)', '.default(50052)')
  edit('src/policy/commands.ts', 'maxCommandsPerHour = 30', 'maxCommandsPerHour = 31')
  edit('src/jobs/metrics.ts', "help: 'Merges by outcome'", "help: 'Merges'")
  edit('app.yml', '# Read the members of teams', '# Read the names of teams')
  const { status, stdout } = checkPages()
  expect(status).toBe(1)
  expect([...stdout.matchAll(/reference\/(.*)\.md: is out of date/g)].map(([, page]) => page)).toEqual([
    'command-line',
    'comment-commands',
    'environment',
    'metrics',
    'permissions',
  ])
})

test('a variable that the code reads but no page mentions is an error', () => {
  edit(
    'src/cli/serve.ts',
    'environment: process.env',
    "environment: { ...process.env, X: process.env['NEW_SETTING'] }",
  )
  expect(checkPages()).toMatchObject({ status: 1, stderr: expect.stringContaining('lacks NEW_SETTING') })
})
