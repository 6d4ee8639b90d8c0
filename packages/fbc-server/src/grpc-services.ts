// Service definitions for gRPC and descriptors for reflection.
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor/index.js'

/** The protocols of a catalog: OLM's `api.Registry`, health, and reflection. Only names and numbers matter on the wire. */
interface ProtoFile {
  readonly file: string
  readonly dependencies: readonly string[]
  readonly text: string
}

const structProto: ProtoFile = {
  file: 'google/protobuf/struct.proto',
  dependencies: [],
  text: `syntax = "proto3";
package google.protobuf;
message Struct { map<string, Value> fields = 1; }
message Value {
  oneof kind {
    NullValue null_value = 1;
    double number_value = 2;
    string string_value = 3;
    bool bool_value = 4;
    Struct struct_value = 5;
    ListValue list_value = 6;
  }
}
enum NullValue { NULL_VALUE = 0; }
message ListValue { repeated Value values = 1; }
`,
}

const registryProto: ProtoFile = {
  file: 'registry.proto',
  dependencies: [structProto.file],
  text: `syntax = "proto3";
package api;
service Registry {
  rpc ListPackages(ListPackageRequest) returns (stream PackageName);
  rpc GetPackage(GetPackageRequest) returns (Package);
  rpc GetBundle(GetBundleRequest) returns (Bundle);
  rpc GetBundleForChannel(GetBundleInChannelRequest) returns (Bundle);
  rpc GetChannelEntriesThatReplace(GetAllReplacementsRequest) returns (stream ChannelEntry);
  rpc GetBundleThatReplaces(GetReplacementRequest) returns (Bundle);
  rpc GetChannelEntriesThatProvide(GetAllProvidersRequest) returns (stream ChannelEntry);
  rpc GetLatestChannelEntriesThatProvide(GetLatestProvidersRequest) returns (stream ChannelEntry);
  rpc GetDefaultBundleThatProvides(GetDefaultProviderRequest) returns (Bundle);
  rpc ListBundles(ListBundlesRequest) returns (stream Bundle);
}
service ExperimentalRegistry {
  rpc ExperimentalListPackageCustomSchemas(ExperimentalListPackageCustomSchemasRequest)
    returns (stream google.protobuf.Struct);
}
message Channel { string name = 1; string csvName = 2; Deprecation deprecation = 3; }
message PackageName { string name = 1; }
message Package {
  string name = 1;
  repeated Channel channels = 2;
  string defaultChannelName = 3;
  Deprecation deprecation = 4;
}
message GroupVersionKind { string group = 1; string version = 2; string kind = 3; string plural = 4; }
message Dependency { string type = 1; string value = 2; }
message Property { string type = 1; string value = 2; }
message Bundle {
  string csvName = 1;
  string packageName = 2;
  string channelName = 3;
  string csvJson = 4;
  repeated string object = 5;
  string bundlePath = 6;
  repeated GroupVersionKind providedApis = 7;
  repeated GroupVersionKind requiredApis = 8;
  string version = 9;
  string skipRange = 10;
  repeated Dependency dependencies = 11;
  repeated Property properties = 12;
  string replaces = 13;
  repeated string skips = 14;
  Deprecation deprecation = 15;
}
message ChannelEntry { string packageName = 1; string channelName = 2; string bundleName = 3; string replaces = 4; }
message ListPackageRequest {}
message ListBundlesRequest {}
message GetPackageRequest { string name = 1; }
message GetBundleRequest { string pkgName = 1; string channelName = 2; string csvName = 3; }
message GetBundleInChannelRequest { string pkgName = 1; string channelName = 2; }
message GetAllReplacementsRequest { string csvName = 1; }
message GetReplacementRequest { string csvName = 1; string pkgName = 2; string channelName = 3; }
message GetAllProvidersRequest { string group = 1; string version = 2; string kind = 3; string plural = 4; }
message GetLatestProvidersRequest { string group = 1; string version = 2; string kind = 3; string plural = 4; }
message GetDefaultProviderRequest { string group = 1; string version = 2; string kind = 3; string plural = 4; }
message Deprecation { string message = 1; }
message ExperimentalListPackageCustomSchemasRequest { string schema = 1; string packageName = 2; }
`,
}

const healthProto: ProtoFile = {
  file: 'grpc/health/v1/health.proto',
  dependencies: [],
  text: `syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
`,
}

/** Ordered so that dependencies come first. */
const protoFiles: readonly ProtoFile[] = [
  structProto,
  registryProto,
  healthProto,
  createReflectionProto('v1'),
  createReflectionProto('v1alpha'),
]

export type ProtoMessage = Readonly<Record<string, unknown>>

export function getProtoStringField(message: ProtoMessage | undefined, field: string): string {
  const value = message?.[field]
  return typeof value === 'string' ? value : ''
}

export interface ProtoFileDescriptor {
  readonly name: string
  readonly dependencies: readonly string[]
  readonly symbols: ReadonlySet<string>
  readonly bytes: Uint8Array
}

const protobufRoot = new protobuf.Root()
for (const { text } of protoFiles) protobuf.parse(text, protobufRoot, { keepCase: true })
protobufRoot.resolveAll()

// Absent fields have their empty values, like Go.
const packageDefinition = fromJSON(protobufRoot.toJSON(), { keepCase: true, defaults: true, oneofs: true })

export function getGrpcService(
  name: string,
): Readonly<Record<string, MethodDefinition<ProtoMessage, ProtoMessage>>> {
  return packageDefinition[name] as ServiceDefinition
}

/** Returns every file, dependencies first. */
export function buildProtoFileDescriptors(): readonly ProtoFileDescriptor[] {
  return protoFiles.map((protocol) => {
    const namespace = protobufRoot.lookup(parseProtoPackage(protocol))
    if (!(namespace instanceof protobuf.Namespace)) throw new Error(`${protocol.file} has no package`)
    return {
      name: protocol.file,
      dependencies: protocol.dependencies,
      symbols: new Set(listProtoSymbols(namespace)),
      bytes: encodeFileDescriptor(protocol, namespace),
    }
  })
}

function parseProtoPackage({ text }: ProtoFile): string {
  return /^package (?<name>[\w.]+);/m.exec(text)?.groups?.['name'] ?? ''
}

function* listProtoSymbols(namespace: protobuf.NamespaceBase): Generator<string> {
  for (const nested of namespace.nestedArray) {
    if (
      nested instanceof protobuf.Type ||
      nested instanceof protobuf.Service ||
      nested instanceof protobuf.Enum
    )
      yield nested.fullName.slice(1)
    if (nested instanceof protobuf.Service)
      for (const method of nested.methodsArray) yield method.fullName.slice(1)
    if (nested instanceof protobuf.Type) yield* listProtoSymbols(nested)
  }
}

interface MessageDescriptor {
  name: string
  typeName?: string
  readonly field?: readonly MessageDescriptor[]
  readonly nestedType?: readonly MessageDescriptor[]
}

function encodeFileDescriptor({ file, dependencies }: ProtoFile, namespace: protobuf.NamespaceBase) {
  const types: MessageDescriptor[] = []
  const services: unknown[] = []
  for (const nested of namespace.nestedArray)
    if (nested instanceof protobuf.Type) types.push(toMessageDescriptor(nested))
    else if (nested instanceof protobuf.Service) services.push(toServiceDescriptor(nested))
  const enums = namespace.nestedArray.filter((nested) => nested instanceof protobuf.Enum)
  const whole = descriptor.FileDescriptorProto.create({
    name: file,
    package: namespace.fullName.slice(1),
    dependency: dependencies,
    messageType: types,
    enumType: enums.map((one) => one.toDescriptor('proto3')),
    service: services,
    syntax: 'proto3',
  })
  return descriptor.FileDescriptorProto.encode(whole).finish()
}

/** protobufjs uses names as written and names map entries by field. Clients expect protoc's names. */
function toMessageDescriptor(type: protobuf.Type): MessageDescriptor {
  const described = type.toDescriptor('proto3') as unknown as MessageDescriptor
  for (const field of described.field ?? []) {
    const known = type.fields[field.name]
    if (known instanceof protobuf.MapField) {
      const entry = (described.nestedType ?? []).find(({ name }) => name === field.typeName)
      for (const part of entry?.field ?? [])
        if (part.name === 'value' && known.resolvedType) part.typeName = known.resolvedType.fullName
      const name = `${field.name.replace(/^./, (first) => first.toUpperCase())}Entry`
      if (entry) entry.name = name
      field.typeName = `${type.fullName}.${name}`
    } else if (known?.resolvedType) field.typeName = known.resolvedType.fullName
  }
  return described
}

function toServiceDescriptor(service: protobuf.Service): unknown {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => ({
      name: method.name,
      inputType: method.resolvedRequestType?.fullName,
      outputType: method.resolvedResponseType?.fullName,
      clientStreaming: method.requestStream === true,
      serverStreaming: method.responseStream === true,
    })),
  }
}

/** The two versions differ only in their package. */
function createReflectionProto(version: string): ProtoFile {
  return {
    file: `grpc/reflection/${version}/reflection.proto`,
    dependencies: [],
    text: `syntax = "proto3";
package grpc.reflection.${version};
service ServerReflection {
  rpc ServerReflectionInfo(stream ServerReflectionRequest) returns (stream ServerReflectionResponse);
}
message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    ExtensionRequest file_containing_extension = 5;
    string all_extension_numbers_of_type = 6;
    string list_services = 7;
  }
}
message ExtensionRequest { string containing_type = 1; int32 extension_number = 2; }
message ServerReflectionResponse {
  string valid_host = 1;
  ServerReflectionRequest original_request = 2;
  oneof message_response {
    FileDescriptorResponse file_descriptor_response = 4;
    ExtensionNumberResponse all_extension_numbers_response = 5;
    ListServiceResponse list_services_response = 6;
    ErrorResponse error_response = 7;
  }
}
message FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; }
message ExtensionNumberResponse { string base_type_name = 1; repeated int32 extension_number = 2; }
message ListServiceResponse { repeated ServiceResponse service = 1; }
message ServiceResponse { string name = 1; }
message ErrorResponse { int32 error_code = 1; string error_message = 2; }
`,
  }
}
