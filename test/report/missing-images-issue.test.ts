import { describe, expect, test } from '@jest/globals'
import {
  renderMissingImagesIssue,
  missingImagesMarker,
  type MissingImageLocation,
  type MissingImageReference,
} from '../../src/report/missing-images-issue.ts'

const missingSinceTimeMs = Date.UTC(2026, 10, 20, 23, 59)
const createMissingImageLocation = (
  differences: Partial<MissingImageLocation> = {},
): MissingImageLocation => ({
  package: 'lighthouse',
  bundle: 'lighthouse.v1.0.0',
  role: 'bundle',
  catalog: 'catalogs/v4.20',
  file: 'catalogs/v4.20/lighthouse/catalog.yaml',
  line: 12,
  ...differences,
})
const createMissing = (differences: Partial<MissingImageReference> = {}): MissingImageReference => ({
  reference: 'quay.io/coast/lighthouse:v1',
  kind: 'gone',
  reason: 'quay.io does not have it (404)',
  since: missingSinceTimeMs,
  confirmed: true,
  places: [createMissingImageLocation()],
  ...differences,
})
const withoutOwners = { owners: new Map<string, string[]>(), mentionOwners: false }

describe('the issue about missing images', () => {
  test('lists the image, the date, the locations, and the next steps', () => {
    const { title, body } = renderMissingImagesIssue([createMissing()], withoutOwners)
    expect(title).toBe('1 image in lighthouse is missing or changed')
    expect(body.startsWith(missingImagesMarker)).toBe(true)
    expect(body).toContain(
      [
        '### `lighthouse`',
        '',
        '- `quay.io/coast/lighthouse:v1` **is missing**, first detected on 2026-11-20: quay.io does not have it (404)',
        '  - the bundle image of `lighthouse.v1.0.0` in the catalog `catalogs/v4.20`: `catalogs/v4.20/lighthouse/catalog.yaml:12`',
      ].join('\n'),
    )
    expect(body).toMatch(
      /### What to do\n\n- If an image is missing \(`image-missing`\), push the image again/,
    )
  })

  test('is grouped by package, and explains each kind of fault in it, with a link to its page', () => {
    const all = [
      createMissing({
        reference: 'quay.io/z',
        places: [createMissingImageLocation({ package: 'tidepool' }), createMissingImageLocation()],
      }),
      createMissing({ reference: 'quay.io/a', kind: 'unsupported' }),
    ]
    const { title, body } = renderMissingImagesIssue(all, {
      ...withoutOwners,
      rulesUrl: 'https://pages.test/rules',
    })
    expect(title).toBe('2 images in 2 packages are missing or changed')
    expect([...body.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading)).toEqual([
      '`lighthouse`',
      '`tidepool`',
      'What to do',
    ])
    expect(body.indexOf('quay.io/a')).toBeLessThan(body.indexOf('quay.io/z'))
    expect(body).toContain('[image-missing](https://pages.test/rules/image-missing.md)')
    expect(body).toContain('[image-unsupported](https://pages.test/rules/image-unsupported.md)')
    expect(body).not.toContain('tag-moved')
  })

  test('distinguishes branches, lists, and related images', () => {
    const locations = [
      createMissingImageLocation({ role: 'related', branch: 'release' }),
      {
        package: 'lighthouse',
        bundle: 'lighthouse',
        role: 'listed',
        file: 'catalogs.yaml',
        line: 3,
      } as const,
    ]
    const { body } = renderMissingImagesIssue([createMissing({ places: locations })], withoutOwners)
    expect(body).toContain('a related image of `lighthouse.v1.0.0` in the catalog')
    expect(body).toContain('on branch `release`')
    expect(body).toContain('the entry `lighthouse` in `catalogs.yaml:3`')
  })

  test('mentions owners only if the configuration enables it', () => {
    const owners = new Map([['lighthouse', ['alice', 'coast/keepers', 'not a login']]])
    expect(renderMissingImagesIssue([createMissing()], { ...withoutOwners, owners }).body).toContain(
      'Owners: `alice`, `coast/keepers`, `not a login`',
    )
    expect(renderMissingImagesIssue([createMissing()], { owners, mentionOwners: true }).body).toContain(
      'Owners: @alice, @coast/keepers, `not a login`',
    )
  })

  test('contains no mention, link, or closing keyword from untrusted text', () => {
    const untrusted = '@everyone closes #1 [x](https://evil.test) <img src=x>'
    const { title, body } = renderMissingImagesIssue(
      [
        createMissing({
          reason: untrusted,
          places: [createMissingImageLocation({ package: untrusted, bundle: `${untrusted}\`` })],
        }),
      ],
      { ...withoutOwners, owners: new Map([[untrusted, [untrusted]]]) },
    )
    expect(title).toBe('1 image in 1 package is missing or changed')
    expect(body.replace(/(`+)[^\n]*?\1/g, '')).not.toMatch(/@everyone|closes #1|(?<!\\)\]\(https|<img/)
  })

  test('stays below the length limit of GitHub, and counts omitted references', () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      createMissing({
        reference: `quay.io/coast/image-${String(index).padStart(4, '0')}@sha256:${'0'.repeat(64)}`,
        places: [createMissingImageLocation({ package: `package-${index % 70}` })],
      }),
    )
    const { title, body } = renderMissingImagesIssue(many, withoutOwners)
    expect(body.length).toBeLessThan(65_536)
    expect(title).toContain('3000 images in 70 packages')
    const shown = [...body.matchAll(/\*\*is missing\*\*/g)].length
    const left = /… and (?<left>\d+) more references in \d+ packages/.exec(body)?.groups?.left
    expect(shown).toBeGreaterThan(100)
    expect(shown + Number(left)).toBe(3000)
    expect(body).toContain('### What to do')
  })

  test('lists the first locations of an image, and counts the others', () => {
    const locations = Array.from({ length: 9 }, (_, index) =>
      createMissingImageLocation({ bundle: `lighthouse.v1.0.${index}` }),
    )
    expect(renderMissingImagesIssue([createMissing({ places: locations })], withoutOwners).body).toContain(
      '  - … and 4 more locations',
    )
  })
})
