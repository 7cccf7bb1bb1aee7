package main

import (
	"fmt"
	"go/types"
	"sync"

	"golang.org/x/tools/go/types/typeutil"
)

// This file names types. Identical types have one name, whichever aliases a source writes for them.

var (
	typeNames  sync.Map     // by type
	identities typeutil.Map // by identical types
	naming     sync.Mutex   // for identities
)

// typeName names a type; types.TypeString is slow and asked for often.
func typeName(t types.Type) string {
	if name, ok := typeNames.Load(t); ok {
		return name.(string)
	}
	naming.Lock()
	name, ok := identities.At(t).(string)
	if !ok {
		name = types.TypeString(unaliased(t, 8), nil)
		if local := localTypes(t, 4); local != "" {
			// Functions may declare different types of one name.
			name += " of " + local
		}
		identities.Set(t, name)
	}
	naming.Unlock()
	typeNames.Store(t, name)
	return name
}

// unaliased is a type with what its aliases stand for, inside methods of interfaces aside.
func unaliased(t types.Type, depth int) types.Type {
	if depth == 0 {
		return t
	}
	inner := func(t types.Type) types.Type { return unaliased(t, depth-1) }
	tuple := func(of *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range of.Variables() {
			vars = append(vars, types.NewParam(v.Pos(), v.Pkg(), v.Name(), inner(v.Type())))
		}
		return types.NewTuple(vars...)
	}
	switch u := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[u.Kind()]
	case *types.Pointer:
		return types.NewPointer(inner(u.Elem()))
	case *types.Slice:
		return types.NewSlice(inner(u.Elem()))
	case *types.Array:
		return types.NewArray(inner(u.Elem()), u.Len())
	case *types.Chan:
		return types.NewChan(u.Dir(), inner(u.Elem()))
	case *types.Map:
		return types.NewMap(inner(u.Key()), inner(u.Elem()))
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, tuple(u.Params()), tuple(u.Results()), u.Variadic())
	case *types.Struct:
		var fields []*types.Var
		var tags []string
		for i := range u.NumFields() {
			f := u.Field(i)
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), inner(f.Type()), f.Embedded()))
			tags = append(tags, u.Tag(i))
		}
		return types.NewStruct(fields, tags)
	case *types.Named:
		if u.TypeArgs().Len() == 0 {
			return u
		}
		var args []types.Type
		for i := range u.TypeArgs().Len() {
			args = append(args, inner(u.TypeArgs().At(i)))
		}
		if same, err := types.Instantiate(nil, u.Origin(), args, false); err == nil {
			return same
		}
		return u
	default:
		return u
	}
}

// localTypes tells apart the types in a type that functions declare: where each is declared.
func localTypes(t types.Type, depth int) string {
	if depth == 0 {
		return ""
	}
	inside := func(types ...types.Type) string {
		found := ""
		for _, t := range types {
			found += localTypes(t, depth-1)
		}
		return found
	}
	switch u := t.(type) {
	case *types.Named:
		found := ""
		object := u.Obj()
		if pkg := object.Pkg(); pkg != nil && object.Parent() != pkg.Scope() && u.Origin() == u {
			found = fmt.Sprintf("%d ", object.Pos())
		}
		for i := range u.TypeArgs().Len() {
			found += localTypes(u.TypeArgs().At(i), depth-1)
		}
		return found
	case *types.Alias:
		return inside(types.Unalias(u))
	case *types.Pointer:
		return inside(u.Elem())
	case *types.Slice:
		return inside(u.Elem())
	case *types.Array:
		return inside(u.Elem())
	case *types.Chan:
		return inside(u.Elem())
	case *types.Map:
		return inside(u.Key(), u.Elem())
	}
	return ""
}
