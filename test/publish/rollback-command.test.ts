import { describe, expect, test } from '@jest/globals'
import { planPublications } from '../../src/publish/plan-publications.ts'
import type { PublicationState } from '../../src/publish/publication-state.ts'
import { findRollbackTarget } from '../../src/publish/rollback-command.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'
import { parseConfig } from '../../src/config/config.ts'

const createFakeDigest = (figure: number) => `sha256:${String(figure).repeat(64)}`
const createPublishedImage = (figure: number) => ({
  digest: createFakeDigest(figure),
  tag: `old-${figure}`,
  commit: toCommitSha(String(figure).repeat(40)),
  key: String(figure),
  at: figure,
  seconds: 1,
  unchanged: false,
  moved: [],
  changeLines: [],
})
const createPublicationState = (current: number, ...history: number[]): PublicationState => ({
  current: createPublishedImage(current),
  history: history.map(createPublishedImage),
  pulls: [],
  undeletable: [],
})

const parsedConfig = parseConfig(
  "publish: [{catalog: 'catalogs/*', repository: quay.io/o/c, tags: ['v{version}']}, {catalog: catalogs/v2, repository: quay.io/o/d, tags: [v2]}]",
)
if (parsedConfig.kind !== 'config') throw new Error('unreadable')
const repositoryLayout = {
  catalogs: [
    { root: 'catalogs/v1', version: '1' },
    { root: 'catalogs/v2', version: '2' },
  ],
}
const { publications } = planPublications(
  parsedConfig.config.publish,
  'main',
  new Map([['main', repositoryLayout]]),
)
const [one, two, other] = publications
if (one === undefined || two === undefined || other === undefined) throw new Error('not planned')
const singlePublicationState = [{ publication: one, state: createPublicationState(3, 2, 1) }]
const multiplePublicationStates = [
  ...singlePublicationState,
  { publication: two, state: createPublicationState(6, 5) },
  { publication: other, state: createPublicationState(9, 8, 5) },
]

describe('/rollback', () => {
  test.each([
    [
      'selects the previous image if only one image is published',
      '',
      singlePublicationState,
      createFakeDigest(2),
    ],
    [
      'selects the image before the target of the last rollback',
      '',
      [{ publication: one, state: createPublicationState(2, 3, 1) }],
      createFakeDigest(1),
    ],
    ['accepts a published tag', 'v1', multiplePublicationStates, createFakeDigest(2)],
    ['accepts it with its repository', 'quay.io/o/d:v2', multiplePublicationStates, createFakeDigest(8)],
    ['accepts a digest', createFakeDigest(1), singlePublicationState, createFakeDigest(1)],
    ['accepts a history tag', 'old-1', multiplePublicationStates, createFakeDigest(1)],
    ['accepts both', `v1 ${createFakeDigest(1)}`, multiplePublicationStates, createFakeDigest(1)],
    [
      'can select a newer image',
      `v1 ${createFakeDigest(3)}`,
      [{ publication: one, state: createPublicationState(2, 3, 1) }],
      createFakeDigest(3),
    ],
  ])('%s', (_name, argument, candidates, wanted) => {
    expect(findRollbackTarget(argument, candidates)).toMatchObject({ kind: 'image', digest: wanted })
  })

  test.each([
    [
      'nothing if several images are published',
      '',
      multiplePublicationStates,
      /several images are published/,
    ],
    ['a tag that two images have', 'v2', multiplePublicationStates, /several images have the tag v2/],
    [
      'a digest that two images had',
      createFakeDigest(5),
      multiplePublicationStates,
      /matches several images/,
    ],
    [
      'a digest that the bot never published there',
      createFakeDigest(4),
      multiplePublicationStates,
      /does not contain image/,
    ],
    ["another tag's image", `v1 ${createFakeDigest(6)}`, multiplePublicationStates, /does not contain image/],
    ['a tag of a preview', 'pr-12', multiplePublicationStates, /does not contain image pr-12/],
    [
      'an unknown tag with a digest',
      `v7 ${createFakeDigest(1)}`,
      multiplePublicationStates,
      /no published image has the tag v7/,
    ],
    ['too many words', 'v1 v2 v3', multiplePublicationStates, /use \/rollback/],
    ['the first image', '', [{ publication: one, state: createPublicationState(1) }], /no earlier image/],
    ['anything if nothing is published', '', [], /no image is published from this branch/],
  ])('does not accept %s', (_name, argument, candidates, why) => {
    expect(findRollbackTarget(argument, candidates)).toMatchObject({
      kind: 'unclear',
      why: expect.stringMatching(why),
    })
  })
})
