// What manifests, indexes and image configs may say: the fields of the OCI image specification (image-spec, manifest.md,
// image-index.md, config.md) and of Docker's formats. A field that is missing here is one that nobody reads by its name.
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

/** Of every kind: which one a document is, is told by what it has. */
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
    // Schema 1.
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
