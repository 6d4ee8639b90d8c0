// Every real owner can make a routine update of their package, and no other author can.
import { describe, expect, jest, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Catalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { describePullRequestChange } from '../../../src/pull-request/describe-change.ts'
import { toBlobSha } from '../../../src/pull-request/ids.ts'
import { detectLayout } from '../../../src/pull-request/layout/detect-layout.ts'
import type { CheckInput } from '../../../src/checks/check.ts'
import { parseOwnershipCiYaml } from '../../../src/checks/ownership/sources/owner-source.ts'
import { computePackageNameSkeleton, isPackageName } from '../../../src/checks/ownership/colliding-paths.ts'
import { selectOwnerFilePathsToRead } from '../../../src/checks/ownership/owner-files.ts'
import { formatPrincipal } from '../../../src/checks/ownership/principals.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import { findSharedPath } from '../../shared-data.ts'
import { readCatalog } from './read-catalog-text.ts'
import { evaluateOwnershipInput, FakeGitHubAccounts } from './ownership-scenario.ts'

const communityOperatorsDirectory = findSharedPath('community-operators')

function listFilesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort()
}

const describeIfCommunityOperatorsExist = communityOperatorsDirectory !== undefined ? describe : describe.skip

describeIfCommunityOperatorsExist('the real catalog repository', () => {
  const here = communityOperatorsDirectory ?? ''
  const basePaths =
    communityOperatorsDirectory === undefined
      ? []
      : listFilesUnder(here).filter((path) => path !== 'README.md')
  const directories =
    communityOperatorsDirectory === undefined ? [] : readdirSync(join(here, 'operators')).sort()
  const layout = detectLayout(basePaths, [])
  const text = (path: string): string | undefined =>
    existsSync(join(here, path)) && statSync(join(here, path)).isFile()
      ? readFileSync(join(here, path), 'utf8')
      : undefined
  const oid = (content: string) => toBlobSha(createHash('sha1').update(content).digest('hex'))
  const facts = new Map<string, Catalog>()
  const factsOf = (path: string, inside: string): Catalog => {
    const known = facts.get(path)
    if (known) return known
    const made = readCatalog(new Map([[inside, text(path) ?? '']]))
    facts.set(path, made)
    return made
  }
  const joined = (parts: readonly Catalog[]): Catalog => ({
    packages: parts.flatMap((part) => part.packages),
    channels: parts.flatMap((part) => part.channels),
    bundles: parts.flatMap((part) => part.bundles),
    deprecations: parts.flatMap((part) => part.deprecations),
    others: parts.flatMap((part) => part.others),
    loadErrors: [],
    findings: [],
    files: parts.flatMap((part) => part.files),
  })

  /** The input for a pull request that replaces or adds files. */
  function inputFor(edits: ReadonlyMap<string, string>): CheckInput {
    const paths = [...edits].map(([path, after]) => {
      const before = text(path)
      return {
        path,
        ...(before !== undefined && { before: { mode: '100644', oid: oid(before) } }),
        after: { mode: '100644', oid: oid(after) },
      }
    })
    const encoder = new TextEncoder()
    const roots = layout.catalogs.filter((catalog) =>
      [...edits.keys()].some((path) => path.startsWith(`${catalog.root}/`)),
    )
    const catalogs = roots.map((catalog) => {
      const inside = (path: string) => path.slice(catalog.root.length + 1)
      const files = basePaths.filter((path) => path.startsWith(`${catalog.root}/`))
      return {
        ...catalog,
        base: joined(files.map((path) => factsOf(path, inside(path)))),
        result: joined(
          [
            ...new Set([
              ...files,
              ...[...edits.keys()].filter((path) => path.startsWith(`${catalog.root}/`)),
            ]),
          ].map((path) => {
            const edited = edits.get(path)
            return edited === undefined
              ? factsOf(path, inside(path))
              : readCatalog(new Map([[inside(path), edited]]))
          }),
        ),
      }
    })
    const change = describePullRequestChange({
      paths,
      layout,
      catalogs,
      treeFiles: {
        read: (side, path) =>
          encoder.encode((side === 'result' ? edits.get(path) : undefined) ?? text(path) ?? ''),
      },
    })
    const files = { base: new Map<string, string>(), result: new Map<string, string>() }
    for (const path of selectOwnerFilePathsToRead(basePaths, change)) {
      const content = text(path)
      if (content !== undefined) files.base.set(path, content)
      const after = edits.get(path) ?? content
      if (after !== undefined) files.result.set(path, after)
    }
    return {
      snapshot: createTestPullSnapshot(),
      config: defaultConfig,
      layout,
      change,
      basePaths,
      ownerFiles: files,
      approvals: [],
    }
  }

  /** The only App among the owners opens its pull requests from a branch of the repository. */
  const by = (author: string, people: FakeGitHubAccounts, input: CheckInput): CheckInput => ({
    ...input,
    snapshot: createTestPullSnapshot({
      author: people.person(author),
      ...(author.endsWith('[bot]') && { headRepository: createTestPullSnapshot().repository }),
    }),
  })

  const updates = new Map<string, CheckInput>()
  const update = (directory: string): CheckInput => {
    const known = updates.get(directory)
    if (known) return known
    const made = inputFor(routineUpdate(directory))
    updates.set(directory, made)
    return made
  }

  /** What an owner does every few weeks: adds a bundle at the head of the first channel. */
  function routineUpdate(directory: string): Map<string, string> {
    const edits = new Map<string, string>()
    for (const { root: catalog } of layout.catalogs) {
      const path = `${catalog}/${directory}/catalog.yaml`
      const before = text(path)
      if (before === undefined) continue
      const { channels } = factsOf(path, `${directory}/catalog.yaml`)
      const [channel] = channels
      if (channel === undefined) throw new Error(`${path} has no channel`)
      const head = channel.entries.at(-1)?.name ?? ''
      const documents = before.split(/^---[ \t]*\n/m)
      const at = documents.findIndex(
        (document) => /^schema: olm\.channel$/m.test(document) && document.includes(`name: ${head}\n`),
      )
      const entry = `- name: ${head}-next\n  replaces: ${head}\n`
      documents[at] = (documents[at] ?? '').replace(/^entries:\n/m, (line) => line + entry)
      const name = channel.package
      documents.push(
        `schema: olm.bundle\nname: ${head}-next\npackage: ${name}\nimage: quay.io/test/${name}@sha256:${'0'.repeat(64)}\nproperties: []\n`,
      )
      edits.set(path, documents.join('---\n'))
    }
    // Packages without catalogs in this copy of the repository are updated in their bundle directories.
    if (edits.size === 0)
      edits.set(`operators/${directory}/9.9.9/release-config.yaml`, 'catalog_templates: []\n')
    return edits
  }

  const owners = new Map(
    directories.map((directory) => {
      const read = parseOwnershipCiYaml(
        `operators/${directory}/ci.yaml`,
        text(`operators/${directory}/ci.yaml`) ?? '',
      )
      if (read.kind === 'broken') throw new Error(`${directory}: ${read.problems[0].problem}`)
      return [directory, read.value.reviewers.map(formatPrincipal)] as const
    }),
  )

  test('has 324 ci.yaml files, all of which can be parsed', () => {
    expect(owners.size).toBe(324)
    expect([...owners.values()].filter((list) => list.length === 0).length).toBe(23)
    expect(new Set([...owners.values()].flat()).size).toBeGreaterThan(500)
  })

  test('has no name that the rules would reject, and no two that look alike', () => {
    expect(directories.filter((name) => !isPackageName(name))).toEqual([])
    expect(new Set(directories.map(computePackageNameSkeleton)).size).toBe(directories.length)
  })

  jest.setTimeout(180_000)

  test('lets every owner update their package alone, even if directory and package names differ', () => {
    let checked = 0
    const rejectedUpdates: string[] = []
    for (const [directory, people] of owners) {
      for (const owner of people) {
        const accounts = new FakeGitHubAccounts()
        const { outcome } = evaluateOwnershipInput(by(owner, accounts, update(directory)), accounts)
        checked += 1
        if (outcome.findings.length + outcome.waiting.length + outcome.unanswered.length > 0)
          rejectedUpdates.push(
            `${directory} by ${owner}: ${outcome.findings[0]?.what ?? outcome.waiting[0]?.what}`,
          )
      }
    }
    expect(rejectedUpdates).toEqual([])
    expect(checked).toBe(827)
  })

  test('makes any other author wait for the owners of the package, or for maintainers if it has none', () => {
    for (const [directory, people] of owners) {
      const accounts = new FakeGitHubAccounts()
      const { outcome } = evaluateOwnershipInput(
        by('owner-of-nothing', accounts, update(directory)),
        accounts,
      )
      const humans = people.filter((name) => !name.endsWith('[bot]'))
      expect(outcome.waiting.flatMap(({ who }) => who)).toEqual(
        humans.length > 0 ? [...new Set(humans)] : ['allda', 'ezopezo', 'haripate', 'mporrato', 'tomasbakk'],
      )
      expect(outcome.findings.every(({ rule }) => rule === 'not-owner')).toBe(true)
    }
  })

  test('rejects a file in a directory with content of the package of another directory', () => {
    const accounts = new FakeGitHubAccounts()
    const mine = 'catalogs/v4.20/cat-facts-operator/catalog.yaml'
    for (const victim of ['konflux-operator', 'hive-operator']) {
      const edits = new Map([
        [mine, `${text(mine)}---\nschema: olm.channel\nname: evil\npackage: ${victim}\nentries: []\n`],
      ])
      const { rules } = evaluateOwnershipInput(
        by(owners.get('cat-facts-operator')?.[0] ?? '', accounts, inputFor(edits)),
        accounts,
      )
      expect(rules).toContain('package-content-mismatch')
    }
  })
})
