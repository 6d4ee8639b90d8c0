// Pages for troubleshooting quote existing messages and versions.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { demoStories } from '../../sandbox/demo/stories.ts'
import { defaultOpmRuleSet } from '@catalog-bot/fbc/model/rule-set'

const projectRoot = join(import.meta.dirname, '..', '..')
const readProjectFile = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const readAllFilesWithExtension = (folder: string, ending: string): string =>
  readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readProjectFile(join(folder, name)))
    .join('\n')

const troubleshootingGuide = readProjectFile('docs/how-to/monitor-and-troubleshoot.md')
const readme = readProjectFile('README.md')

test('each message and metric in a table exists', () => {
  const quoted = troubleshootingGuide.split('\n').flatMap((line) => {
    const [, symptom = ''] = /^\| (.*?) +\|/.exec(line) ?? []
    const quotes = [...line.matchAll(/says `([^`]+)`/g)].map(([, text = '']) => text)
    return [...[...symptom.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text), ...quotes]
  })
  expect(quoted.length).toBeGreaterThan(25)
  const known =
    readAllFilesWithExtension('src', '.ts') + readAllFilesWithExtension('test/report/golden', '.md')
  // The variable parts: names, branches, and commands in code spans.
  const fragments = quoted.flatMap((text) =>
    text
      .replace(/\{.*\}/, '')
      .split(/…|\bmain\b|\/merge|OWNER\/NAME/)
      .filter((part) => part.trim().length > 3),
  )
  expect(fragments.filter((part) => !known.includes(part.trim()))).toEqual([])
})

test('README names the versions that the code requires', () => {
  const { engines } = JSON.parse(readProjectFile('package.json')) as { engines: { node: string } }
  const { kubeVersion } = parse(readProjectFile('deploy/chart/Chart.yaml')) as { kubeVersion: string }
  const [, major, minor] =
    /minGitVersion = \[(\d+), (\d+)\]/.exec(readProjectFile('src/adapters/git/run-git.ts')) ?? []
  expect(readme).toContain(`Git ${major}.${minor} or later`)
  expect(readme).toContain(`Node.js ${engines.node.replace('>=', '')} or later`)
  expect(readme).toContain(`Kubernetes ${kubeVersion.replace(/^>=(\d+\.\d+).*$/, '$1')} or later`)
  expect(readme).toContain(`opm ${defaultOpmRuleSet.id.replace('opm-v', '')}`)
})

test('README names the number of pull requests in the demo', () => {
  expect(demoStories).toHaveLength(8)
  expect(readme).toContain('eight good and bad pull requests')
})

test('the output in README is the one of the tutorial, which CI runs', () => {
  const output = /```text\n([^]*?)```/.exec(readme)?.[1]?.trim() ?? 'no output'
  expect(readProjectFile('docs/tutorials/first-change.md')).toContain(output)
})
