// The pages of docs/reference follow the code: a change of a default, of a description, or of a setting shows up in them.
// `npm run pages:check` fails if they are out of date without such a change.
import { afterAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const projectRoot = join(import.meta.dirname, '../..')

const repositoryCopyPath = mkdtempSync(join(tmpdir(), 'reference-'))
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
  cpSync(join(projectRoot, path), join(repositoryCopyPath, path), { recursive: true })
symlinkSync(join(projectRoot, 'node_modules'), join(repositoryCopyPath, 'node_modules'))
afterAll(() => rmSync(repositoryCopyPath, { recursive: true }))

const checkReferencePages = () =>
  spawnSync(process.execPath, ['--no-warnings', 'scripts/reference-pages.ts', '--check'], {
    cwd: repositoryCopyPath,
    encoding: 'utf8',
  })

function replaceTextInFile(path: string, before: string, after: string): void {
  const text = readFileSync(join(repositoryCopyPath, path), 'utf8')
  expect(text).toContain(before)
  writeFileSync(join(repositoryCopyPath, path), text.replace(before, after))
}

test('a changed default or reason in the code makes only its page out of date', () => {
  replaceTextInFile(
    'src/jobs/settings.ts',
    'SWEEP_SECONDS: secondsSchema.default(180)',
    'SWEEP_SECONDS: secondsSchema.default(181)',
  )
  replaceTextInFile('src/cli/commands/image-commands.ts', '.default(50051)', '.default(50052)')
  replaceTextInFile('src/policy/commands.ts', 'maxCommandsPerHour = 30', 'maxCommandsPerHour = 31')
  replaceTextInFile('src/jobs/metrics.ts', "help: 'Merges by outcome'", "help: 'Merges'")
  replaceTextInFile('app.yml', '# Read the members of teams', '# Read the names of teams')
  const { status, stdout } = checkReferencePages()
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
  replaceTextInFile(
    'src/cli/serve.ts',
    'environment: process.env',
    "environment: { ...process.env, X: process.env['NEW_SETTING'] }",
  )
  expect(checkReferencePages()).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('lacks NEW_SETTING'),
  })
})
