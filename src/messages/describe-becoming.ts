import type { Change } from '../change/change.ts'
import { placeholderHost, type Becoming } from '../checks/bundles/becoming.ts'
import { describeChangeLines, type Line } from './describe-change.ts'

/** The predicted change, without paths of the pull request. */
export function becomingChange(becoming: readonly Becoming[]): Change {
  return { paths: [], catalogs: becoming.flatMap(({ changes }) => changes), references: [] }
}

/** Empty where nothing changes. */
export function describeBecoming(becoming: readonly Becoming[]): Line[] {
  const change = becomingChange(becoming)
  const isChanged = change.catalogs.some(({ packages }) => packages.length > 0)
  const unknown = becoming.flatMap(({ unknown: why }): Line[] =>
    why === undefined ? [] : [{ depth: 0, words: ['It is not known ', { name: why }] }],
  )
  if (!isChanged) return unknown
  const images = new Map(becoming.flatMap((one) => one.images.map(({ name, image }) => [name, image])))
  const names = [...images.values()]
  const isNamed = names.some((name) => !name.startsWith(placeholderHost))
  return [
    { depth: 0, words: ['Once the bundle images are built and added to the catalogs:'] },
    ...describeChangeLines(change).map((line): Line => ({ ...line, depth: 1 })),
    ...(images.size === 0
      ? []
      : [
          {
            depth: 1 as const,
            words: [
              isNamed ? 'the image that is to come: ' : 'no image is built yet: ',
              ...names.slice(0, 3).map((name) => ({ name })),
            ].flatMap((word, at) => (at > 1 ? [', ', word] : [word])),
          },
        ]),
    ...unknown,
  ]
}
