import { describe, expect, test } from '@jest/globals'
import { planPublications } from '../../../../src/app/jobs/publish/plan-publications.ts'
import type { PublicationState } from '../../../../src/app/jobs/publish/publication-state.ts'
import { meantByRollback } from '../../../../src/app/jobs/publish/rollback-command.ts'
import { commitSha } from '../../../../src/change/ids.ts'
import { parseConfig } from '../../../../src/config/config.ts'

const digest = (figure: number) => `sha256:${String(figure).repeat(64)}`
const made = (figure: number) => ({
  digest: digest(figure),
  tag: `old-${figure}`,
  commit: commitSha(String(figure).repeat(40)),
  key: String(figure),
  at: figure,
  seconds: 1,
  unchanged: false,
  moved: [],
  changeLines: [],
})
const state = (current: number, ...history: number[]): PublicationState => ({
  current: made(current),
  history: history.map(made),
  pulls: [],
  undeletable: [],
})

const parsed = parseConfig(
  "publish: [{catalog: 'catalogs/*', repository: quay.io/o/c, tags: ['v{version}']}, {catalog: catalogs/v2, repository: quay.io/o/d, tags: [v2]}]",
)
if (parsed.kind !== 'config') throw new Error('unreadable')
const layout = {
  catalogs: [
    { root: 'catalogs/v1', version: '1' },
    { root: 'catalogs/v2', version: '2' },
  ],
}
const { publications } = planPublications(parsed.config.publish, 'main', new Map([['main', layout]]))
const [one, two, other] = publications
if (one === undefined || two === undefined || other === undefined) throw new Error('not planned')
const single = [{ publication: one, state: state(3, 2, 1) }]
const several = [
  ...single,
  { publication: two, state: state(6, 5) },
  { publication: other, state: state(9, 8, 5) },
]

describe('/rollback', () => {
  test.each([
    ['means the image before, where there is one image alone', '', single, digest(2)],
    [
      'means the image before what a rollback chose, not what it left',
      '',
      [{ publication: one, state: state(2, 3, 1) }],
      digest(1),
    ],
    ['takes a tag that users follow', 'v1', several, digest(2)],
    ['takes it with its repository', 'quay.io/o/d:v2', several, digest(8)],
    ['takes a digest', digest(1), single, digest(1)],
    ['takes the tag under which an image stayed', 'old-1', several, digest(1)],
    ['takes a tag and a digest', `v1 ${digest(1)}`, several, digest(1)],
    ['goes forward again', `v1 ${digest(3)}`, [{ publication: one, state: state(2, 3, 1) }], digest(3)],
  ])('%s', (_name, words, candidates, wanted) => {
    expect(meantByRollback(words, candidates)).toMatchObject({ kind: 'image', digest: wanted })
  })

  test.each([
    ['nothing, where several images are published', '', several, /several images are published/],
    ['a tag that two images have', 'v2', several, /several images have the tag v2/],
    ['a digest that two images had', digest(5), several, /several images are meant/],
    ['a digest that the bot never published there', digest(4), several, /published no image/],
    ["another tag's image", `v1 ${digest(6)}`, several, /published no image/],
    ['a tag of a preview', 'pr-12', several, /published no image pr-12/],
    ['an unknown tag with a digest', `v7 ${digest(1)}`, several, /no image is published under the tag v7/],
    ['too many words', 'v1 v2 v3', several, /write \/rollback/],
    ['the first image', '', [{ publication: one, state: state(1) }], /no image before/],
    ['anything, where nothing is published', '', [], /no image is published from this branch/],
  ])('does not take %s', (_name, words, candidates, why) => {
    expect(meantByRollback(words, candidates)).toMatchObject({
      kind: 'unclear',
      why: expect.stringMatching(why),
    })
  })
})
