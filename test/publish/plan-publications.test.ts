import { describe, expect, test } from '@jest/globals'
import { formatPermanentImageTag, planPublications } from '../../src/publish/plan-publications.ts'
import type { RepositoryLayout } from '../../src/pull-request/layout/layout.ts'
import { parseConfig } from '../../src/config/config.ts'
import type { PublishEntry } from '../../src/config/publish.ts'

const repositoryLayout: RepositoryLayout = {
  catalogs: [
    { root: 'catalogs/v4.19', version: '4.19' },
    { root: 'catalogs/v4.20', version: '4.20' },
    { root: 'catalogs/fast' },
  ],
}

function parsePublishEntries(yaml: string): readonly PublishEntry[] {
  const parsed = parseConfig(`publish:\n${yaml}`)
  if (parsed.kind !== 'config') throw new Error(JSON.stringify(parsed.findings))
  return parsed.config.publish
}
const planPublicationsFromYaml = (yaml: string, branches = new Map([['main', repositoryLayout]])) =>
  planPublications(parsePublishEntries(yaml), 'main', branches)

describe('publish entries', () => {
  test('plan one image for each catalog that they match, by path or glob', () => {
    const { publications, problems } = planPublicationsFromYaml(
      "- {catalog: 'catalogs/v*', repository: quay.io/o/c, tags: ['v{version}', '{name}-x']}",
    )
    expect(problems).toEqual([])
    expect(publications.map(({ catalog, tags, environment }) => [catalog.root, tags, environment])).toEqual([
      ['catalogs/v4.19', ['v4.19', 'v4.19-x'], 'catalog v4.19'],
      ['catalogs/v4.20', ['v4.20', 'v4.20-x'], 'catalog v4.20'],
    ])
    expect(publications.map((one) => formatPermanentImageTag(one, 'a'.repeat(40)))).toEqual([
      'v4.19-aaaaaaaaaaaa',
      'v4.20-aaaaaaaaaaaa',
    ])
  })

  test('can publish one catalog in several variants', () => {
    const { publications, problems } = planPublicationsFromYaml(
      '- {catalog: catalogs/v4.20, repository: quay.io/o/c, tags: [latest]}\n- {catalog: catalogs/v4.20, repository: quay.io/o/c, tags: [plain], cache: false}',
    )
    expect(problems).toEqual([])
    expect(new Set(publications.map(({ id }) => id)).size).toBe(2)
  })

  test.each([
    [
      'two catalogs under one tag',
      "- {catalog: 'catalogs/v*', repository: quay.io/o/c, tags: [latest]}",
      /another catalog/,
      2,
    ],
    [
      'a version that the layout does not define',
      "- {catalog: catalogs/fast, repository: quay.io/o/c, tags: ['v{version}']}",
      /does not define a version/,
      1,
    ],
    [
      'a catalog that does not exist',
      '- {catalog: catalogs/none, repository: quay.io/o/c, tags: [x]}',
      /no catalog matches/,
      1,
    ],
    [
      'a branch that does not exist',
      '- {catalog: catalogs/fast, branch: other, repository: quay.io/o/c, tags: [x]}',
      /branch other does not exist/,
      1,
    ],
    [
      'a repository with a tag',
      "- {catalog: catalogs/fast, repository: 'quay.io/o/c:latest', tags: [x]}",
      /not a valid image repository name/,
      1,
    ],
  ])('plan nothing and report a problem for the maintainers with %s', (_name, yaml, why, count) => {
    const { publications, problems } = planPublicationsFromYaml(yaml)
    expect(publications).toEqual([])
    expect(problems).toHaveLength(count)
    for (const problem of problems) expect(problem.why).toMatch(why)
  })

  test.each([
    ['a preview tag', "tags: ['pr-12']"],
    ['a tag that becomes a preview tag', "tags: ['pr-{number}']"],
    ['a history tag that looks like a preview tag', "tags: [x], retention: {tag: 'pr-1-{commit}'}"],
    ['a history tag without a commit', 'tags: [x], retention: {tag: old}'],
    ['a preview with a tag that users pull', 'tags: [x], preview: {tag: latest}'],
    ['a preview tag that does not start with pr-{number}', "tags: [x], preview: {tag: 'x-pr-{number}'}"],
    ['a tag with a slash', "tags: ['a/b']"],
    ['a shell command in a tag', "tags: ['$(id)']"],
    ['no tag', 'tags: []'],
    ['an unknown key', 'tags: [x], credentials: mine'],
    ['a time without a unit', 'tags: [x], rebase: "24"'],
  ])('are rejected with %s', (_name, rest) => {
    expect(parseConfig(`publish: [{catalog: c, repository: quay.io/o/c, ${rest}}]`).kind).toBe('unreadable')
  })
})
