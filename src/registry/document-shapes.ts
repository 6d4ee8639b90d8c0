// Fields of manifests, indexes and image configs (OCI image-spec: manifest.md, image-index.md, config.md; Docker's
// formats). A missing field is one that no reader uses by name.
import type { Shape } from './strict-json.ts'

const texts: Shape = { list: 'string' }
const annotations: Shape = { map: 'string' }
/** A set, as Go writes it: keys with empty objects. */
const marks: Shape = { map: { fields: {} } }

const platform = {
  architecture: 'string',
  os: 'string',
  'os.version': 'string',
  'os.features': texts,
  variant: 'string',
} as const

const descriptor: Shape = {
  fields: {
    mediaType: 'string',
    digest: 'string',
    size: 'integer',
    urls: texts,
    annotations,
    data: 'bytes',
    artifactType: 'string',
    platform: { fields: { ...platform, features: texts } },
  },
}

export const manifestShape: Shape = {
  fields: {
    schemaVersion: 'integer',
    mediaType: 'string',
    artifactType: 'string',
    config: descriptor,
    layers: { list: descriptor },
    manifests: { list: descriptor },
    subject: descriptor,
    annotations,
    name: 'any',
    tag: 'any',
    architecture: 'any',
    fsLayers: 'any',
    history: 'any',
    signatures: 'any',
  },
}

export const configShape: Shape = {
  fields: {
    ...platform,
    created: 'string',
    author: 'string',
    config: {
      fields: {
        User: 'string',
        ExposedPorts: marks,
        Env: texts,
        Entrypoint: texts,
        Cmd: texts,
        Volumes: marks,
        WorkingDir: 'string',
        Labels: annotations,
        StopSignal: 'string',
        ArgsEscaped: 'boolean',
      },
    },
    rootfs: { fields: { type: 'string', diff_ids: texts } },
    history: {
      list: {
        fields: {
          created: 'string',
          created_by: 'string',
          author: 'string',
          comment: 'string',
          empty_layer: 'boolean',
        },
      },
    },
  },
}
