import { describe, expect, test } from '@jest/globals'
import { formatHistoryTag, planPublications } from '../../src/publish/plan-publications.ts'
import type { RepositoryLayout } from '../../src/pull-request/layout/layout.ts'
import { parseConfig } from '../../src/config/config.ts'
import type { PublishEntry } from '../../src/config/publish.ts'

const layout: RepositoryLayout = {
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
const planFromYaml = (yaml: string, branches = new Map([['main', layout]])) =>
  planPublications(parsePublishEntries(yaml), 'main', branches)

describe('what is to be published', () => {
  test('is one image for each catalog that an entry means, by path or by glob', () => {
    const { publications, problems } = planFromYaml(
      "- {catalog: 'catalogs/v*', repository: quay.io/o/c, tags: ['v{version}', '{name}-x']}",
    )
    expect(problems).toEqual([])
    expect(publications.map(({ catalog, tags, environment }) => [catalog.root, tags, environment])).toEqual([
      ['catalogs/v4.19', ['v4.19', 'v4.19-x'], 'catalog v4.19'],
      ['catalogs/v4.20', ['v4.20', 'v4.20-x'], 'catalog v4.20'],
    ])
    expect(publications.map((one) => formatHistoryTag(one, 'a'.repeat(40)))).toEqual([
      'v4.19-aaaaaaaaaaaa',
      'v4.20-aaaaaaaaaaaa',
    ])
  })

  test('may be one catalog in several variants', () => {
    const { publications, problems } = planFromYaml(
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
      'a version that the layout does not tell',
      "- {catalog: catalogs/fast, repository: quay.io/o/c, tags: ['v{version}']}",
      /does not define a version/,
      1,
    ],
    [
      'a catalog that is not there',
      '- {catalog: catalogs/none, repository: quay.io/o/c, tags: [x]}',
      /no catalog matches/,
      1,
    ],
    [
      'a branch that is not served',
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
  ])('is nothing with %s, and the maintainers are told', (_name, yaml, why, count) => {
    const { publications, problems } = planFromYaml(yaml)
    expect(publications).toEqual([])
    expect(problems).toHaveLength(count)
    for (const problem of problems) expect(problem.why).toMatch(why)
  })

  test.each([
    ['a tag of previews', "tags: ['pr-12']"],
    ['a tag that becomes one', "tags: ['pr-{number}']"],
    ['a history tag of previews', "tags: [x], retention: {tag: 'pr-1-{commit}'}"],
    ['a history tag without a commit', 'tags: [x], retention: {tag: old}'],
    ['a preview under a tag that users follow', 'tags: [x], preview: {tag: latest}'],
    ['a preview whose number is not in front', "tags: [x], preview: {tag: 'x-pr-{number}'}"],
    ['a tag with a slash', "tags: ['a/b']"],
    ['a shell in a tag', "tags: ['$(id)']"],
    ['no tag', 'tags: []'],
    ['an unknown key', 'tags: [x], credentials: mine'],
    ['a time without a unit', 'tags: [x], rebase: "24"'],
  ])('is refused as a configuration with %s', (_name, rest) => {
    expect(parseConfig(`publish: [{catalog: c, repository: quay.io/o/c, ${rest}}]`).kind).toBe('unreadable')
  })
})
