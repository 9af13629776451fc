//! The part of an interface that C can have, and which of its types are read and written.

use std::collections::{BTreeMap, BTreeSet};

use uniffi_meta::{
    EnumMetadata, FnParamMetadata, Metadata, MetadataGroup, ObjectMetadata, RecordMetadata, Type,
};

use super::CError;
use super::lowering::{BUFFER, is_returned, lowered, optional};
use super::names::CNames;

/// Interface as C sees it.
pub(crate) struct CInterface<'a> {
    pub(crate) names: CNames,
    pub(crate) crate_name: &'a str,
    pub(crate) records: BTreeMap<&'a str, &'a RecordMetadata>,
    pub(crate) enums: BTreeMap<&'a str, &'a EnumMetadata>,
    pub(crate) objects: BTreeMap<&'a str, &'a ObjectMetadata>,
    pub(crate) calls: Vec<CCall<'a>>,
    /// Names of calls that C cannot have.
    pub(crate) left_out: Vec<String>,
    /// Types that are written for the library.
    pub(crate) written: BTreeSet<Type>,
    /// Types that are read from what the library gives.
    pub(crate) read: BTreeSet<Type>,
    /// Types with parts that are freed.
    pub(crate) cleared: BTreeSet<Type>,
}

/// Function, method or constructor.
pub(crate) struct CCall<'a> {
    /// Name of the function in the library.
    pub(crate) symbol: String,
    /// Function of the library that returns the checksum of the call, and the checksum of this interface.
    pub(crate) checksum: Option<(String, u16)>,
    /// Object that the call is a method or constructor of.
    pub(crate) object: Option<&'a ObjectMetadata>,
    pub(crate) is_constructor: bool,
    pub(crate) name: &'a str,
    pub(crate) inputs: &'a [FnParamMetadata],
    pub(crate) returns: Option<&'a Type>,
    pub(crate) throws: Option<&'a Type>,
    pub(crate) docs: Option<&'a str>,
}

impl CCall<'_> {
    /// Returns the name of the function in C, without prefix.
    pub(crate) fn short(&self, names: &CNames) -> String {
        match self.object {
            Some(object) => format!("{}_{}", names.definition(&object.name), self.name),
            None => self.name.to_owned(),
        }
    }
}

impl<'a> CInterface<'a> {
    pub(crate) fn new(group: &'a MetadataGroup) -> Result<Self, CError> {
        let mut interface = Self {
            names: CNames {
                namespace: group.namespace.name.clone(),
            },
            crate_name: &group.namespace.crate_name,
            records: BTreeMap::new(),
            enums: BTreeMap::new(),
            objects: BTreeMap::new(),
            calls: Vec::new(),
            left_out: Vec::new(),
            written: BTreeSet::new(),
            read: BTreeSet::new(),
            cleared: BTreeSet::new(),
        };
        for item in &group.items {
            match item {
                Metadata::Record(record) => {
                    interface.records.insert(&record.name, record);
                }
                Metadata::Enum(one) => {
                    interface.enums.insert(&one.name, one);
                }
                Metadata::Object(object) if object.imp.has_struct() => {
                    interface.objects.insert(&object.name, object);
                }
                _ => {}
            }
        }
        for item in &group.items {
            interface.add(item);
        }
        // The order of the interface is by name; that of reading is constructor, then methods.
        interface.calls.sort_by_key(|call| {
            let object = call.object.map(|object| object.name.as_str());
            (object, !call.is_constructor)
        });
        interface.find_types()?;
        interface.check_names()?;
        Ok(interface)
    }

    fn add(&mut self, item: &'a Metadata) {
        let (call, is_async) = match item {
            Metadata::Func(one) => (
                CCall {
                    symbol: one.ffi_symbol_name(),
                    checksum: one.checksum.map(|sum| (one.checksum_symbol_name(), sum)),
                    object: None,
                    is_constructor: false,
                    name: &one.name,
                    inputs: &one.inputs,
                    returns: one.return_type.as_ref(),
                    throws: one.throws.as_ref(),
                    docs: one.docstring.as_deref(),
                },
                one.is_async,
            ),
            Metadata::Constructor(one) => (
                CCall {
                    symbol: one.ffi_symbol_name(),
                    checksum: one.checksum.map(|sum| (one.checksum_symbol_name(), sum)),
                    object: self.objects.get(one.self_name.as_str()).copied(),
                    is_constructor: true,
                    name: &one.name,
                    inputs: &one.inputs,
                    returns: None,
                    throws: one.throws.as_ref(),
                    docs: one.docstring.as_deref(),
                },
                one.is_async,
            ),
            Metadata::Method(one) => (
                CCall {
                    symbol: one.ffi_symbol_name(),
                    checksum: one.checksum.map(|sum| (one.checksum_symbol_name(), sum)),
                    object: self.objects.get(one.self_name.as_str()).copied(),
                    is_constructor: false,
                    name: &one.name,
                    inputs: &one.inputs,
                    returns: one.return_type.as_ref(),
                    throws: one.throws.as_ref(),
                    docs: one.docstring.as_deref(),
                },
                one.is_async,
            ),
            _ => return,
        };
        let is_function = matches!(item, Metadata::Func(_));
        let has_owner = is_function || call.object.is_some();
        if !is_async && has_owner && self.can_have(&call) {
            self.calls.push(call);
        } else {
            self.left_out.push(call.name.to_owned());
        }
    }

    fn can_have(&self, call: &CCall<'_>) -> bool {
        let inputs = call.inputs.iter().map(|input| &input.ty);
        let all = inputs.chain(call.returns).chain(call.throws);
        let mut all = all.flat_map(Type::iter_types);
        // The values of an enum with fields are only read.
        let is_plain = |input: &FnParamMetadata| match &input.ty {
            Type::Enum { name, .. } => self.is_flat(name),
            _ => true,
        };
        let is_returned = call.returns.is_none_or(is_returned);
        is_returned && all.all(is_offered) && call.inputs.iter().all(is_plain)
    }

    /// Whether an enum of this name has no fields.
    pub(crate) fn is_flat(&self, name: &str) -> bool {
        self.enums.get(name).is_some_and(|one| is_flat(one))
    }

    /// Finds the types that functions are needed for: the compiler warns of those that nothing uses. Numbers and texts
    /// that are arguments or results themselves need none.
    fn find_types(&mut self) -> Result<(), CError> {
        let is_serialised = |ty: &&Type| lowered(ty) == BUFFER && **ty != Type::String;
        let inputs = self.calls.iter().flat_map(|call| call.inputs);
        let inputs = inputs.map(|input| &input.ty).filter(is_serialised);
        let results = self
            .calls
            .iter()
            .flat_map(|call| [call.returns, call.throws]);
        let results: Vec<_> = results.flatten().filter(is_serialised).collect();
        let freed = results.iter().map(|ty| optional(ty).unwrap_or(ty));
        let freed = freed.filter(|ty| match ty {
            Type::Enum { name, .. } => !self.is_flat(name),
            ty => **ty != Type::String,
        });
        let written = self.closure(inputs.cloned().collect())?;
        let cleared = self.closure(freed.cloned().collect())?;
        self.read = self.closure(results.into_iter().cloned().collect())?;
        self.written = written;
        self.cleared = cleared;
        Ok(())
    }

    /// Checks that no call has the name of a type: in C both are of one kind.
    fn check_names(&self) -> Result<(), CError> {
        let types = self.written.union(&self.read);
        let mut types: BTreeSet<_> = types.map(|ty| self.names.short(ty)).collect();
        let objects = self.objects.keys();
        types.extend(objects.map(|name| self.names.definition(name)));
        let calls = self.calls.iter().map(|call| call.short(&self.names));
        match calls.into_iter().find(|name| types.contains(name)) {
            Some(name) => Err(CError::SameName { name }),
            None => Ok(()),
        }
    }

    /// Returns these types and all those within them.
    fn closure(&self, mut open: Vec<Type>) -> Result<BTreeSet<Type>, CError> {
        let mut found = BTreeSet::new();
        while let Some(ty) = open.pop() {
            if !found.insert(ty.clone()) {
                continue;
            }
            open.extend(ty.iter_nested_types().cloned());
            let undefined = |name: &str| CError::Undefined {
                name: name.to_owned(),
            };
            match &ty {
                Type::Record { name, .. } => {
                    let record = self.records.get(name.as_str());
                    let record = record.ok_or_else(|| undefined(name))?;
                    let fields = record.fields.iter().map(|field| &field.ty);
                    open.extend(offered(name, fields)?);
                }
                Type::Enum { name, .. } => {
                    let one = self.enums.get(name.as_str());
                    let one = one.ok_or_else(|| undefined(name))?;
                    let fields = one.variants.iter().flat_map(|variant| &variant.fields);
                    open.extend(offered(name, fields.map(|field| &field.ty))?);
                    self.check_fields(one)?;
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Checks that the fields of all variants can stand in one struct.
    fn check_fields(&self, one: &EnumMetadata) -> Result<(), CError> {
        let mut known: BTreeMap<&str, &Type> = BTreeMap::new();
        for field in one.variants.iter().flat_map(|variant| &variant.fields) {
            let before = known.insert(&field.name, &field.ty);
            if before.is_some_and(|before| *before != field.ty) {
                return Err(CError::Clash {
                    name: one.name.clone(),
                    field: field.name.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Returns the fields of an enum with the variants that have each, in the order in which they first occur.
pub(crate) fn fields_of(one: &EnumMetadata) -> Vec<(&str, &Type, Vec<&str>)> {
    let mut fields: Vec<(&str, &Type, Vec<&str>)> = Vec::new();
    for variant in &one.variants {
        for field in &variant.fields {
            match fields.iter_mut().find(|(name, ..)| *name == field.name) {
                Some((_, _, variants)) => variants.push(&variant.name),
                None => fields.push((&field.name, &field.ty, vec![&variant.name])),
            }
        }
    }
    fields
}

pub(crate) fn is_flat(one: &EnumMetadata) -> bool {
    !one.shape.is_error() && one.variants.iter().all(|variant| variant.fields.is_empty())
}

fn offered<'a>(name: &str, fields: impl Iterator<Item = &'a Type>) -> Result<Vec<Type>, CError> {
    let fields: Vec<_> = fields.cloned().collect();
    if fields.iter().flat_map(Type::iter_types).all(is_offered) {
        Ok(fields)
    } else {
        let name = name.to_owned();
        Err(CError::Field { name })
    }
}

fn is_offered(ty: &Type) -> bool {
    !matches!(
        ty,
        Type::Object { .. }
            | Type::CallbackInterface { .. }
            | Type::Timestamp
            | Type::Duration
            | Type::Set { .. }
            | Type::Custom { .. }
    )
}
